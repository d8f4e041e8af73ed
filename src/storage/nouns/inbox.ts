import {
  type PrivacyRequestKind,
  type PrivacyRequestQuery,
  type PrivacyRequestState,
  pendingStates,
  requestKinds,
  requestStates,
} from '../../domain/privacy-request.ts'
import type { Engine } from './engine.ts'
import { integer, type Row, text } from './row.ts'
import { statement } from './statement.ts'

// Requests that share a reference are listed as one. Most requests do not, so that they are one range of an
// index for each state and kind. Those that do are found group by group, however many requests a group has.

interface Range {
  state: PrivacyRequestState
  kind: PrivacyRequestKind
}

const own = 'organisation_id = :organisationId'
const sharing = `${own} AND state = :state AND kind = :kind AND shares_reference = 1`
const namesOf = (states: readonly PrivacyRequestState[]) => states.map((each) => `'${each}'`).join(', ')
/** That no request with the same reference and kind comes before `r` in one of these states. */
const isFirstIn = (states: readonly PrivacyRequestState[], isBefore: string) =>
  `NOT EXISTS (SELECT 1 FROM privacy_requests f WHERE f.organisation_id = r.organisation_id
             AND f.reference = r.reference AND f.state IN (${namesOf(states)}) AND f.kind = r.kind
             AND (f.due_at, f.id) ${isBefore} (r.due_at, r.id))`

/** The first request in a state of each group with one reference, unless another listed state has it. */
function firstOfGroups(states: readonly PrivacyRequestState[], isLatestFirst: boolean) {
  const [order, isBefore] = isLatestFirst ? ['due_at DESC, id DESC', '>'] : ['due_at, id', '<']
  return statement(
    `WITH RECURSIVE listed (reference) AS (
       SELECT min(reference) FROM privacy_requests WHERE ${sharing}
       UNION ALL
       SELECT (SELECT min(r.reference) FROM privacy_requests r WHERE ${sharing} AND r.reference > listed.reference)
       FROM listed WHERE listed.reference IS NOT NULL)
     SELECT r.id, r.due_at, r.reference, r.kind FROM listed CROSS JOIN privacy_requests r
     WHERE r.organisation_id = :organisationId AND r.id = (
       SELECT id FROM privacy_requests f WHERE ${own} AND f.reference = listed.reference AND state = :state AND kind = :kind
       ORDER BY ${order} LIMIT 1)${states.length > 1 ? ` AND ${isFirstIn(states, isBefore)}` : ''}`,
  )
}
const byIds = statement(`SELECT * FROM privacy_requests WHERE ${own} AND id = ANY (:ids)`)

/** The rows of a page with one request for each reference and kind, plus one to show if more follow. */
export async function readInbox(
  engine: Pick<Engine<never>, 'read'>,
  organisationId: string,
  query: PrivacyRequestQuery,
): Promise<Row[]> {
  const { state, kind, isLatestFirst = false, dueBefore, limit } = query
  const states = state === null ? requestStates : state === 'pending' ? pendingStates : [state]
  const kinds = kind === null ? requestKinds : [kind]
  const ranges = states.flatMap((state) => kinds.map((kind) => ({ state, kind })))
  const comesFirst = (a: Row, b: Row) => (isLatestFirst ? compare(b, a) : compare(a, b)) < 0
  const start = isLatestFirst ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER
  const after = { due_at: query.after?.dueAt ?? start, id: query.after?.id ?? '' }
  const before = dueBefore ?? Number.MAX_SAFE_INTEGER
  const ofGroups = firstOfGroups(states, isLatestFirst)
  const [alone, ...found] = await Promise.all([
    engine.read(requestsAlone(ranges, states, isLatestFirst), {
      ...{ organisationId, before, at: after.due_at, id: after.id, count: limit + 1 },
    }),
    ...ranges.map((range) => engine.read(ofGroups, { organisationId, ...range })),
  ])
  const groups = new Map<string, Row>()
  for (const row of found.flat()) {
    const group = JSON.stringify([row.reference, row.kind])
    const known = groups.get(group)
    if (!known || comesFirst(row, known)) groups.set(group, row)
  }
  const inOrder = (rows: Iterable<Row>) => [...rows].sort((a, b) => (comesFirst(a, b) ? -1 : 1))
  const isListed = (row: Row) => comesFirst(after, row) && integer(row, 'due_at') < before
  const ids = inOrder([...groups.values()].filter(isListed))
    .slice(0, limit + 1)
    .map(({ id }) => id)
  const shared = ids.length === 0 ? [] : await engine.read(byIds, { organisationId, ids })
  // The first of a group may have been created before any other shared its reference.
  const rows = new Map([...alone, ...shared].map((row) => [row.id, row]))
  return inOrder(rows.values()).slice(0, limit + 1)
}

/** The requests whose reference was new when they were created, and that still come first with it. */
function requestsAlone(
  ranges: readonly Range[],
  states: readonly PrivacyRequestState[],
  isLatestFirst: boolean,
) {
  const [order, isAfter, isBefore] = isLatestFirst
    ? ['due_at DESC, id DESC', '<', '>']
    : ['due_at, id', '>', '<']
  const rowsOf = (table: string) =>
    ranges.map(
      ({ state, kind }) =>
        `SELECT * FROM ${table} WHERE ${own} AND shares_reference = 0 AND state = '${state}' AND kind = '${kind}'
           AND (due_at, id) ${isAfter} (:at, :id) AND due_at < :before
           AND ${isFirstIn(states, isBefore)}`,
    )
  const merged = rowsOf('privacy_requests r INDEXED BY privacy_requests_alone').join(' UNION ALL ')
  const onSqlite = `${merged} ORDER BY ${order} LIMIT :count`
  return statement(firstOfRanges(rowsOf('privacy_requests r'), order), 'one', onSqlite)
}

/** For PostgreSQL, which would sort all of several ranges unless each has a limit. SQLite merges them. */
export function firstOfRanges(ranges: readonly string[], order: string): string {
  const end = `ORDER BY ${order} LIMIT :count`
  const rows = ranges.length > 1 ? ranges.map((range) => `(${range} ${end})`) : ranges
  return `${rows.join(' UNION ALL ')} ${end}`
}

/** By due instant, then by ID, as the stores order text. */
function compare(a: Row, b: Row): number {
  const [first, second] = [text(a, 'id'), text(b, 'id')]
  return integer(a, 'due_at') - integer(b, 'due_at') || (first < second ? -1 : Number(first > second))
}
