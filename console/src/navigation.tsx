import { Icon, type IconName } from './components/icon.tsx'
import { Link } from './router.tsx'

/** A page in the navigation. */
interface NavPage {
  to: string
  title: string
  icon: IconName
}

/** The pages for daily work, at the bottom edge on phones. */
export const mainPages: readonly NavPage[] = [
  { to: '/console/trackers', title: 'Trackers', icon: 'trackers' },
  { to: '/console/erasures', title: 'Erasures', icon: 'erasures' },
  { to: '/console/batches', title: 'Batches', icon: 'batches' },
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
        </Link>
      ))}
    </>
  )
}
