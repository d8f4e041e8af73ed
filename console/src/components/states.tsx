import type { ComponentChildren } from 'preact'
import type { ApiError } from '../api.ts'
import type { Resource } from '../resource.ts'
import { Link } from '../router.tsx'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

/** Shown instead of an empty list: what it is for and how to start. */
export function Empty({
  icon,
  title,
  children,
}: {
  icon: IconName
  title: string
  children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

interface LoadErrorProps {
  error: ApiError
  onRetry?: () => void
  /** Why it may not exist. */
  missing?: ComponentChildren
}

/** Shown instead of data that could not be loaded. */
export function LoadError({ error, onRetry, missing }: LoadErrorProps) {
  return (
    <div class="empty" role="alert">
      <Icon name="alert" />
      <h2>{error.status === 404 ? 'Not found' : 'Loading failed'}</h2>
      <p>{error.message}</p>
      {error.status === 404 && missing}
      {error.requestId && (
        <p class="muted">
          Request ID <code>{error.requestId}</code>
        </p>
      )}
      {onRetry && error.status !== 404 && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

/** Why a request may not exist, and what remains of it. */
export function MissingRequest() {
  return (
    <p>
      Closed requests are kept as long as the activity. The certificate of each of their{' '}
      <Link to="/console/erasures">erasures</Link> remains.
    </p>
  )
}

/** Grey lines of about the size of the content, so that nothing moves when it arrives. */
export function Skeleton({ lines = 5, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} />
      ))}
    </div>
  )
}

/** Reserves the space of a text that is still loading. */
export function Placeholder({ like }: { like: string }) {
  return (
    <span class="awaited" aria-hidden="true">
      {like}
    </span>
  )
}

interface LoadedProps<Data> {
  resource: Resource<Data>
  lines?: number
  children(data: Data): ComponentChildren
}

/** A resource in its current state: loading, failed or loaded. */
export function Loaded<Data>({ resource, lines, children }: LoadedProps<Data>) {
  const { data, error, isLoading, reload } = resource
  if (error) return <LoadError error={error} onRetry={reload} />
  if (data === null) return <Skeleton {...(lines !== undefined && { lines })} />
  return (
    <div class="loaded" aria-busy={isLoading}>
      {children(data)}
    </div>
  )
}
