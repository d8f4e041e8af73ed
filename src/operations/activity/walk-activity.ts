import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ActivityEntry, ActivityKind, ActivityPosition, ActivityStore } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import { maxPageSize } from '../../domain/page.ts'

/** What of an organisation's activity is asked for; what is left out does not narrow it. */
export interface ActivityFilter {
  /** Then or later. */
  since?: Instant
  /** Before. */
  until?: Instant
  kinds?: readonly ActivityKind[]
  /** The id of whoever did it, their name of that time, or `command-line`. */
  actor?: string
  requestId?: string
}

/**
 * An organisation's activity, newest first, one entry after the other; a page of it is in memory at a time. The instants and the request
 * id bound what is read; of the rest no index knows, so entries are read and passed over.
 */
export async function* walkActivity(
  { activity }: { activity: ActivityStore },
  organisationId: string,
  { since, until, kinds, actor, requestId }: ActivityFilter,
): AsyncGenerator<ActivityEntry> {
  const range = { limit: maxPageSize, requestId: requestId ?? null, ...(since !== undefined && { since }) }
  // No id comes before the empty one: behind it lies what happened before that instant.
  let after: ActivityPosition | null = until === undefined ? null : { at: until, id: '' }
  do {
    const page = await activity.list(organisationId, { ...range, after })
    for (const entry of page.rows) {
      if (kinds && !kinds.includes(entry.kind)) continue
      if (actor === undefined || isBy(entry, actor)) yield entry
    }
    after = page.next
    await nextTurn()
  } while (after !== null)
}

function isBy({ actor }: ActivityEntry, wanted: string): boolean {
  if (actor.kind === 'command-line') return wanted === actor.kind
  return wanted === actor.id || wanted === actor.name
}
