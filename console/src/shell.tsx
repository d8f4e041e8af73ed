import type { ComponentChildren } from 'preact'
import { AccountMenu } from './account-menu.tsx'
import { Logo } from './components/icon.tsx'
import { home, mainPages, NavLinks, otherPages } from './navigation.tsx'
import { Link } from './router.tsx'
import { SearchBox } from './search-box.tsx'
import { useSession } from './session.tsx'

/** The frame of every page for members: a sidebar on wide screens, bars above and below on small ones. */
export function Shell({ path, children }: { path: string; children: ComponentChildren }) {
  const { organisation } = useSession()
  return (
    <div class="shell">
      {/* biome-ignore lint/a11y/useValidAnchor: it moves the focus to the page without changing the fragment */}
      <a class="skip" href="#content" onClick={skip}>
        Skip to content
      </a>
      <header class="sidebar">
        <Link to={home} class="brand">
          <Logo />
          <span>
            <strong>Lethe</strong>
            <small>{organisation.name}</small>
          </span>
        </Link>
        <SearchBox />
        <nav aria-label="Console" class="nav-links">
          <NavLinks of={mainPages} path={path} />
          <div class="other-pages">
            <NavLinks of={otherPages} path={path} />
          </div>
        </nav>
        <AccountMenu path={path} />
      </header>
      {children}
    </div>
  )
}

/** Moves the focus to the page, without a fragment: that of some pages has a meaning. */
function skip(event: Event): void {
  event.preventDefault()
  const heading = document.querySelector('main h1')
  if (heading instanceof HTMLElement) heading.focus()
}
