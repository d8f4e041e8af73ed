import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type ActivityEntry,
  type ActivityKind,
  type ActivityNote,
  type ActivityPosition,
  type ActivityQuery,
  type ActivityStore,
  isActivityKind,
  type Origin,
} from '../domain/activity.ts'
import { withoutKeys } from '../domain/api-key.ts'
import type { Problems } from '../domain/errors.ts'
import { type Clock, formatInstant, type Instant, readInstant } from '../domain/instant.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, maxPageSize, readCursor } from '../domain/page.ts'
import type { Randomness } from '../domain/randomness.ts'

/** What a change leaves behind in the activity of its organisation. */
export function activityNote(
  { clock, randomness }: { clock: Clock; randomness: Randomness },
  { actor, requestId }: Origin,
  what: { organisationId: string; kind: ActivityKind; target: string | null },
): ActivityNote {
  const id = randomness.uuid()
  return { id, at: clock(), actor, requestId: requestId && withoutKeys(requestId), ...what }
}

interface ActivityListOptions {
  limit?: number
  cursor?: string
  requestId?: string
  kind?: string
  /** The id of a member or a key, or `command-line`. */
  actor?: string
  /** Instants: then or later, and before. */
  since?: string
  until?: string
}

/** What is asked for, apart from the page of it. */
export interface ActivityFilters extends Pick<ActivityQuery, 'requestId' | 'kind' | 'actor'> {
  since: Instant | null
  until: Instant | null
}

/** Turns what a client asked for into filters. */
export function readActivityFilters(options: ActivityListOptions, problems: Problems): ActivityFilters {
  const { requestId = null, actor = null, kind = null } = options
  if (kind !== null && !isActivityKind(kind)) problems.add('kind', 'kind must be one of those that there are')
  return {
    ...{ requestId, actor, kind: kind !== null && isActivityKind(kind) ? kind : null },
    since: readInstant('since', options.since, problems),
    until: readInstant('until', options.until, problems),
  }
}

/** Turns what a client asked for into a query. */
export function planActivityList(
  organisationId: string,
  options: ActivityListOptions,
  problems: Problems,
): ActivityQuery & { filters: ActivityFilters } {
  const filters = readActivityFilters(options, problems)
  const isClear = !problems.has('requestId', 'kind', 'actor', 'since', 'until')
  const list = isClear ? identityOf(organisationId, filters) : null
  const after = readCursor(list, options.cursor, problems) ?? startOf(filters)
  return { ...toQuery(filters), limit: options.limit ?? defaultPageSize, after, filters }
}

/** A page of what was done in an organisation, newest first. */
export async function listActivity(
  { activity }: { activity: ActivityStore },
  organisationId: string,
  { filters, ...query }: ReturnType<typeof planActivityList>,
): Promise<{ entries: ActivityEntry[]; nextCursor: string | null }> {
  const { rows, next } = await activity.list(organisationId, query)
  const list = identityOf(organisationId, filters)
  return { entries: rows, nextCursor: next && encodeCursor(list, next.at, next.id) }
}

/** No id comes before the empty one: behind it lies what happened before that instant. */
function startOf({ until }: ActivityFilters): ActivityQuery['after'] {
  return until === null ? null : { at: until, id: '' }
}

function toQuery({ since, requestId, kind, actor }: ActivityFilters) {
  return { requestId, kind: kind ?? null, actor: actor ?? null, ...(since !== null && { since }) }
}

function identityOf(organisationId: string, filters: ActivityFilters): ListIdentity {
  const { requestId, kind = null, actor = null, since, until } = filters
  return ['activity', organisationId, requestId, kind, actor, since, until]
}

/** What of an organisation's activity is asked for; what is left out does not narrow it. */
interface ActivityFilter {
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

/** All that filters leave of an organisation's activity, newest first, page by page. */
export async function* pagesOfActivity(
  { activity }: { activity: ActivityStore },
  organisationId: string,
  filters: ActivityFilters,
): AsyncGenerator<ActivityEntry[]> {
  let after: ActivityQuery['after'] = startOf(filters)
  do {
    const { rows, next } = await activity.list(organisationId, {
      ...toQuery(filters),
      limit: maxPageSize,
      after,
    })
    if (rows.length > 0) yield rows
    after = next
    await nextTurn()
  } while (after !== null)
}

export const csvHeader = 'at,kind,actorKind,actorId,actor,target,sessions,events,ledgerIndex,requestId\r\n'

/** An entry as a line of CSV (RFC 4180). */
export function toCsvLine(entry: ActivityEntry): string {
  const { at, kind, actor, target, counts, ledgerIndex, requestId } = entry
  const [actorId, actorName] = actor.kind === 'command-line' ? ['', ''] : [actor.id, actor.name]
  const fields = [
    ...[formatInstant(at), kind, actor.kind, actorId, actorName, target ?? ''],
    ...[counts?.sessions ?? '', counts?.events ?? '', ledgerIndex ?? '', requestId ?? ''],
  ]
  return `${fields.map(toCsvField).join(',')}\r\n`
}

/** Where a cell can begin: at the field's start, or where a spreadsheet cuts that ends cells elsewhere, which it does within quotes too. */
const formulaStart = /(?:^|[;\t\r\n])\s*(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g

/** What a spreadsheet would take for a formula is kept from being one: names and request ids are anybody's to choose. */
function toCsvField(value: string | number): string {
  const text = String(value)
  const harmless = text.replace(formulaStart, "$&'")
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
