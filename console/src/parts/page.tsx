import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Link, remembered } from '../router.tsx'
import { Icon } from './icon.tsx'

interface PageProps {
  title: string
  /** A line on what this page is for. */
  intro?: ComponentChildren
  actions?: ComponentChildren
  /** Where it hangs below. */
  above?: { to: string; title: string }
  /** What it belongs to, such as a tracker: the window's title says it too. */
  within?: string | undefined
  /** The heading, where it is more than its text. */
  heading?: ComponentChildren
  isCode?: boolean
  children: ComponentChildren
}

/** A page with its heading, which gets the focus as it is drawn: who listens hears where they are, and who types on leaves it again. */
export function Page(props: PageProps) {
  const { title, intro, actions, above, within, heading: shown = title, isCode = false, children } = props
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [])
  useEffect(() => {
    // Who comes back finds the page where it was left.
    scrollTo(0, remembered().scroll ?? 0)
  }, [])
  useEffect(() => {
    document.title = [title, within, 'Lethe'].filter(Boolean).join(' · ')
  }, [title, within])
  return (
    <main id="content" class="page">
      {above && (
        <nav aria-label="Breadcrumb" class="above">
          <Link to={above.to}>
            <Icon name="back" /> {above.title}
          </Link>
        </nav>
      )}
      <header class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1} class={isCode ? 'code' : undefined}>
            {shown}
          </h1>
          {intro && <p class="intro">{intro}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </main>
  )
}
