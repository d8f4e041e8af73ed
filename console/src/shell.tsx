import type { ComponentChildren } from 'preact'
import { AccountMenu } from './account-menu.tsx'
import { FindPerson } from './find-person.tsx'
import { Icon, type IconName, Logo } from './parts/icon.tsx'
import { Link } from './router.tsx'
import { useSession } from './session.tsx'

const places: { to: string; title: string; icon: IconName }[] = [
  { to: '/console/trackers', title: 'Trackers', icon: 'trackers' },
  { to: '/console/keys', title: 'API keys', icon: 'keys' },
  { to: '/console/activity', title: 'Activity', icon: 'activity' },
  { to: '/console/members', title: 'Members', icon: 'members' },
]

interface ShellProps {
  path: string
  /** Told whom somebody looks for. */
  onFind(text: string): void
  children: ComponentChildren
}

/** What is around every page for members: on wide screens at the side, on small ones above and below. */
export function Shell({ path, onFind, children }: ShellProps) {
  const { organisation } = useSession()
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="sidebar">
        <Link to="/console/trackers" class="brand">
          <Logo />
          <span>
            <strong>Lethe</strong>
            <small>{organisation.name}</small>
          </span>
        </Link>
        <FindPerson onFind={onFind} />
        <nav aria-label="Console" class="places">
          {places.map(({ to, title, icon }) => (
            <Link key={to} to={to} isCurrent={path === to || path.startsWith(`${to}/`)}>
              <Icon name={icon} />
              <span>{title}</span>
            </Link>
          ))}
        </nav>
        <AccountMenu />
      </header>
      {children}
    </div>
  )
}
