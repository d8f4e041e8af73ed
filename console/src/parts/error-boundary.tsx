import { Component, type ComponentChildren } from 'preact'
import { Button } from './button.tsx'
import { Page } from './page.tsx'
import { Empty } from './states.tsx'

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
