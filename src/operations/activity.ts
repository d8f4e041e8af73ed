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
import { withoutCredentials } from '../domain/credential.ts'
import type { Problems } from '../domain/errors.ts'
import { type Clock, formatInstant, type Instant, readInstant } from '../domain/instant.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, maxPageSize, readCursor } from '../domain/page.ts'
import type { NamedRequest, PrivacyRequestStore } from '../domain/privacy-request.ts'
import type { Randomness } from '../domain/randomness.ts'
import { csvLine } from './csv.ts'

export function activityNote(
  { clock, randomness }: { clock: Clock; randomness: Randomness },
  { actor, requestId }: Origin,
  what: { organisationId: string; kind: ActivityKind; target: string | null },
): ActivityNote {
  const at = clock()
  const id = noteId(at, randomness)
  return { id, at, actor, requestId: requestId && withoutCredentials(requestId), ...what }
}

/** Records an export without other changes. Call before any of it is sent. */
export function noteExport(
  deps: { activity: ActivityStore; clock: Clock; randomness: Randomness },
  organisationId: string,
  what: { kind: `${'request-group' | 'request-report' | 'activity'}.exported`; target: string },
  origin: Origin,
): Promise<void> {
  return deps.activity.add(activityNote(deps, origin, { organisationId, ...what }))
}

/** The instant of the last note of this process, and how many it had before that one. */
const last = { at: 0, notesBefore: 0 }

/** A UUID of version 7, whose counter keeps the notes of one instant in the order in which they were made. */
function noteId(at: Instant, randomness: Randomness): string {
  last.notesBefore = at === last.at ? last.notesBefore + 1 : 0
  last.at = at
  const time = at.toString(16).padStart(12, '0')
  const counter = (last.notesBefore % 4_096).toString(16).padStart(3, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${randomness.uuid().slice(19)}`
}

interface ActivityListOptions {
  limit?: number
  cursor?: string
  requestId?: string
  kind?: string
  /** The ID of a member or a key, or `command-line`. */
  actor?: string
  since?: string
  until?: string
}

export interface ActivityFilters extends Pick<ActivityQuery, 'requestId' | 'kind' | 'actor'> {
  since: Instant | null
  until: Instant | null
}

export function readActivityFilters(options: ActivityListOptions, problems: Problems): ActivityFilters {
  const { requestId = null, actor = null, kind = null } = options
  if (kind !== null && !isActivityKind(kind)) problems.add('kind', 'kind must be a known kind of activity')
  return {
    ...{ requestId, actor, kind: kind !== null && isActivityKind(kind) ? kind : null },
    since: readInstant('since', options.since, problems),
    until: readInstant('until', options.until, problems),
  }
}

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

/** Newest first. */
export async function listActivity(
  { activity }: { activity: ActivityStore },
  organisationId: string,
  { filters, ...query }: ReturnType<typeof planActivityList>,
): Promise<{ entries: ActivityEntry[]; nextCursor: string | null }> {
  const { rows, next } = await activity.list(organisationId, query)
  return { entries: rows, nextCursor: next && activityCursor(organisationId, filters, next) }
}

/** The requests that entries are about, by ID of the entry; `null` for those that no longer exist. */
export async function requestsOfActivity(
  { privacyRequests }: { privacyRequests: PrivacyRequestStore },
  organisationId: string,
  entries: readonly ActivityEntry[],
): Promise<Map<string, NamedRequest | null>> {
  const about = entries.filter(({ kind }) => kind.startsWith('request.'))
  const ids = new Set(about.map(({ target }) => target).filter((id) => id !== null))
  const found = ids.size === 0 ? [] : await privacyRequests.findMany(organisationId, [...ids])
  const requests = new Map(found.map((request) => [request.id, request]))
  return new Map(about.map(({ id, target }) => [id, requests.get(target ?? '') ?? null]))
}

/** The cursor of the entries after a position. */
export function activityCursor(
  organisationId: string,
  filters: ActivityFilters,
  { at, id }: ActivityPosition,
): string {
  return encodeCursor(identityOf(organisationId, filters), at, id)
}

/** No ID sorts before the empty one, so this is the position just before that instant. */
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

interface ActivityFilter {
  /** Inclusive. */
  since?: Instant
  /** Exclusive. */
  until?: Instant
  kinds?: readonly ActivityKind[]
  /** The ID or the name of the actor, or `command-line`. */
  actor?: string
  requestId?: string
}

/** Newest first, page by page. Times and the request ID use an index; the other filters do not. */
export async function* streamActivity(
  { activity }: { activity: ActivityStore },
  organisationId: string,
  { since, until, kinds, actor, requestId }: ActivityFilter,
): AsyncGenerator<ActivityEntry> {
  const bounds = { since: since ?? null, until: until ?? null, requestId: requestId ?? null }
  for await (const entries of pagesOfActivity({ activity }, organisationId, bounds)) {
    for (const entry of entries) {
      if (kinds && !kinds.includes(entry.kind)) continue
      if (actor === undefined || isBy(entry, actor)) yield entry
    }
  }
}

function isBy({ actor }: ActivityEntry, wanted: string): boolean {
  if (actor.kind === 'command-line') return wanted === actor.kind
  return wanted === actor.id || wanted === actor.name
}

/** The filtered activity of an organisation, newest first, page by page. */
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

export function toCsvLine(entry: ActivityEntry): string {
  const { at, kind, actor, target, counts, ledgerIndex, requestId } = entry
  const [actorId, actorName] = actor.kind === 'command-line' ? ['', ''] : [actor.id, actor.name]
  const fields = [
    ...[formatInstant(at), kind, actor.kind, actorId, actorName, target ?? ''],
    ...[counts?.sessions ?? '', counts?.events ?? '', ledgerIndex ?? '', requestId ?? ''],
  ]
  return csvLine(fields)
}
