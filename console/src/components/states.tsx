import type { ComponentChildren } from 'preact'
import type { ApiError } from '../api.ts'
import type { Resource } from '../resource.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

/** What stands where there is nothing yet: what this place is for, and how to begin. */
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

/** What stands where something could not be fetched. */
export function LoadError({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  return (
    <div class="empty" role="alert">
      <Icon name="alert" />
      <h2>{error.status === 404 ? 'Not found' : 'Loading failed'}</h2>
      <p>{error.message}</p>
      {error.requestId && (
        <p class="muted">
          Request ID <code>{error.requestId}</code>
        </p>
      )}
      {onRetry && error.status !== 404 && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

/** Grey lines of about the size of what is coming, so that nothing moves when it comes. */
export function Skeleton({ lines = 5, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} />
      ))}
    </div>
  )
}

/** As much room as a text takes that is like the one to come. */
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

/** A resource in whichever state it is: grey lines, what went wrong, or what there is. */
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
