import { Icon, type IconName } from './components/icon.tsx'
import { countInWords } from './requests.ts'
import { useResource } from './resource.ts'
import { Link } from './router.tsx'
import type { RequestCounts } from './types.ts'

/** A page in the navigation. */
interface NavPage {
  to: string
  title: string
  icon: IconName
}

/** The page to start with. */
export const home = '/console/requests'

/** The pages for daily work, at the bottom edge on phones. */
export const mainPages: readonly NavPage[] = [
  { to: home, title: 'Requests', icon: 'requests' },
  { to: '/console/trackers', title: 'Trackers', icon: 'trackers' },
  { to: '/console/erasures', title: 'Erasures', icon: 'erasures' },
  { to: '/console/activity', title: 'Activity', icon: 'activity' },
]

/** The pages used less often, in the account menu on phones. */
export const otherPages: readonly NavPage[] = [
  { to: '/console/keys', title: 'API keys', icon: 'keys' },
  { to: '/console/members', title: 'Members', icon: 'members' },
  { to: '/console/settings', title: 'Settings', icon: 'settings' },
]

/** Navigation links, with the current page marked. */
export function NavLinks({ of, path }: { of: readonly NavPage[]; path: string }) {
  return (
    <>
      {of.map(({ to, title, icon }) => (
        <Link key={to} to={to} isCurrent={path === to || path.startsWith(`${to}/`)}>
          <Icon name={icon} />
          <span>{title}</span>
          {to === home && <OpenCount />}
        </Link>
      ))}
    </>
  )
}

/** How many requests are open, or overdue if there are any. */
function OpenCount() {
  const { data } = useResource<RequestCounts>('/request-counts')
  if (!data || data.open === 0) return null
  const { open, overdue } = data
  return (
    <span class={overdue > 0 ? 'count overdue' : 'count'}>
      {overdue > 0 ? countInWords(overdue) : countInWords(open)}
      <span class="visually-hidden">{overdue > 0 ? ' overdue' : ' open'}</span>
    </span>
  )
}
