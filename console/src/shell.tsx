import type { ComponentChildren } from 'preact'
import { AccountMenu } from './account-menu.tsx'
import { FindPerson } from './find-person.tsx'
import { Logo } from './parts/icon.tsx'
import { mainPlaces, otherPlaces, Places } from './places.tsx'
import { Link } from './router.tsx'
import { useSession } from './session.tsx'

/** What is around every page for members: on wide screens at the side, on small ones above and below. */
export function Shell({ path, children }: { path: string; children: ComponentChildren }) {
  const { organisation } = useSession()
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="sidebar">
        <Link to="/console/trackers" class="brand">
          <Logo />
          <span>
            <strong>Lethe</strong>
            <small>{organisation.name}</small>
          </span>
        </Link>
        <FindPerson />
        <nav aria-label="Console" class="places">
          <Places of={mainPlaces} path={path} />
          <div class="other-places">
            <Places of={otherPlaces} path={path} />
          </div>
        </nav>
        <AccountMenu path={path} />
      </header>
      {children}
    </div>
  )
}
