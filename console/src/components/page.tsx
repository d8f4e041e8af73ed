import { Component, type ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { historyState, Link } from '../router.tsx'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { Empty } from './states.tsx'

interface PageProps {
  title: string
  /** One line that says what the page is for. */
  intro?: ComponentChildren
  actions?: ComponentChildren
  /** The parent page. */
  above?: { to: string; title: string }
  /** The name of the parent for the document title, such as a tracker's. */
  within?: string | undefined
  /** The heading, if it is more than the title's text. */
  heading?: ComponentChildren
  isCode?: boolean
  children: ComponentChildren
}

/** A page with its heading. The heading gets the focus, so that screen readers announce the new page. */
export function Page(props: PageProps) {
  const { title, intro, actions, above, within, heading: shown = title, isCode = false, children } = props
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [])
  useEffect(() => {
    // Back restores the scroll position.
    scrollTo(0, historyState().scroll ?? 0)
  }, [])
  // With the heading, because screen readers announce both.
  useLayoutEffect(() => {
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

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Empty icon="search" title="There is no page at this address">
        <p>
          Check the address, or <Link to="/console/requests">go to Requests</Link>.
        </p>
      </Empty>
    </Page>
  )
}

/** Shown instead of a page that failed to render. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state = { error: null }

  static override getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override componentDidCatch(error: unknown): void {
    console.error(error)
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Page title="Something went wrong">
        <Empty icon="alert" title="This page could not be displayed">
          <p>This is a bug in Lethe.</p>
          <p class="muted">
            <code class="wrap">{String(error)}</code>
          </p>
          <Button onClick={() => this.setState({ error: null })}>Try again</Button>
        </Empty>
      </Page>
    )
  }
}
