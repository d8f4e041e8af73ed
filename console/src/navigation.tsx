import { Icon, type IconName } from './components/icon.tsx'
import { Link } from './router.tsx'

/** A page that the navigation leads to. */
interface NavPage {
  to: string
  title: string
  icon: IconName
}

/** What is done every day: a phone has these at its lower edge. */
export const mainPages: readonly NavPage[] = [
  { to: '/console/trackers', title: 'Trackers', icon: 'trackers' },
  { to: '/console/erasures', title: 'Erasures', icon: 'erasures' },
  { to: '/console/batches', title: 'Batches', icon: 'batches' },
  { to: '/console/activity', title: 'Activity', icon: 'activity' },
]

/** What is looked after now and then: on a phone they are in the account's menu. */
export const otherPages: readonly NavPage[] = [
  { to: '/console/keys', title: 'API keys', icon: 'keys' },
  { to: '/console/members', title: 'Members', icon: 'members' },
  { to: '/console/settings', title: 'Settings', icon: 'settings' },
]

/** Links to pages, with the one at hand marked. */
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
