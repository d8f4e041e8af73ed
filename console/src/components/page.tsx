import { Component, type ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { historyState, Link } from '../router.tsx'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { Empty } from './states.tsx'

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
    scrollTo(0, historyState().scroll ?? 0)
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

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Empty icon="search" title="There is no page at this address">
        <p>
          Check the address, or <Link to="/console/trackers">go to Trackers</Link>.
        </p>
      </Empty>
    </Page>
  )
}

/** What stands where a page could not be drawn: a mistake of ours, with a way on. */
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
          <p>This is a bug in Lethe. No data was changed.</p>
          <p class="muted">
            <code class="wrap">{String(error)}</code>
          </p>
          <Button onClick={() => this.setState({ error: null })}>Try again</Button>
        </Empty>
      </Page>
    )
  }
}
