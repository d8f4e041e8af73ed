import type { ActivityNote } from '../../domain/activity.ts'
import {
  type PrivacyRequestRef,
  type PrivacyRequestState,
  pendingStates,
} from '../../domain/privacy-request.ts'
import {
  maxExclusions,
  maxNotes,
  maxOpenCount,
  type RequestExclusion,
  type RequestHandlingStore,
  type RequestNote,
} from '../../domain/request-handling.ts'
import { actorParameters, insertActivity, toActor } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { lockInState } from './privacy-request.ts'
import { bytes, integer, type Row, text } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

// As for other changes of a request, every transaction locks the organisation first.

const own = 'organisation_id = :organisationId AND request_id = :id'

const assign = statement(
  'UPDATE privacy_requests SET assignee_id = :memberId WHERE organisation_id = :organisationId AND id = :id',
)
const member = statement('SELECT 1 FROM members WHERE id = :memberId AND organisation_id = :organisationId')
/** Takes a removed member's requests away, except for closed ones, where it shows as nobody. */
export const unassign = statement(
  `UPDATE privacy_requests SET assignee_id = NULL
   WHERE organisation_id = :organisationId AND assignee_id = :id AND state IN ('open', 'running')`,
)

const notes = statement(`SELECT * FROM privacy_request_notes WHERE ${own}`)
const countNotes = statement(`SELECT count(*) AS rows FROM privacy_request_notes WHERE ${own}`)
const insertNote = statement(
  `INSERT INTO privacy_request_notes (organisation_id, request_id, id, at, actor_kind, actor_id, actor_name, body)
   VALUES (:organisationId, :id, :noteId, :at, :actorKind, :actorId, :actorName, :text)`,
)
const deleteNote = statement(`DELETE FROM privacy_request_notes WHERE ${own} AND id = :noteId`)

const exclusions = statement(`SELECT * FROM privacy_request_exclusions WHERE ${own}`)
const countExclusions = statement(`SELECT count(*) AS rows FROM privacy_request_exclusions WHERE ${own}`)
const excluded = statement(`SELECT 1 FROM privacy_request_exclusions WHERE ${own} AND digest = :digest`)
export const insertExclusion = statement(
  `INSERT INTO privacy_request_exclusions (organisation_id, request_id, digest, tracker_id, reason, at, actor_kind,
     actor_id, actor_name)
   VALUES (:organisationId, :id, :digest, :trackerId, :reason, :at, :actorKind, :actorId, :actorName)`,
)
const deleteExclusion = statement(`DELETE FROM privacy_request_exclusions WHERE ${own} AND digest = :digest`)

const personDigests = statement(`SELECT digest FROM privacy_request_people WHERE ${own}`)

const countUpTo = (table: string, condition: string) =>
  `(SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE organisation_id = :organisationId AND ${condition}
     LIMIT ${maxOpenCount}) AS counted)`
const isMine = (state: PrivacyRequestState) => `assignee_id = :memberId AND state = '${state}'`
// The order makes PostgreSQL use the index of the organisation, not the one of all organisations.
const pendingWhere = (condition: string) => `closed_at IS NULL${condition} ORDER BY due_at, id`
const countFrom = (requests: string, pending: string) =>
  `SELECT ${countUpTo(pending, pendingWhere(''))} AS open,
     ${countUpTo(pending, pendingWhere(' AND due_at >= :today AND due_at < :soon'))} AS due_soon,
     ${countUpTo(pending, pendingWhere(' AND due_at < :today'))} AS overdue,
     ${countUpTo(requests, isMine('open'))} + ${countUpTo(requests, isMine('running'))} AS mine`
// SQLite is told which index to use, because it prefers the primary key for all of them.
const countOpen = statement(
  countFrom('privacy_requests', 'privacy_requests'),
  'one',
  countFrom('privacy_requests', 'privacy_requests INDEXED BY privacy_requests_by_pending_and_due'),
)

async function lockRequest(
  run: Run,
  { organisationId, id }: PrivacyRequestRef,
  states: readonly PrivacyRequestState[],
): Promise<boolean> {
  await lockOrganisation(run, organisationId)
  return (await run(lockInState, { organisationId, id, states })).count === 1
}

export const requestHandlingTransactions = {
  async assignPrivacyRequest(
    run: Run,
    ref: PrivacyRequestRef,
    memberId: string | null,
    note: ActivityNote,
  ): Promise<'assigned' | 'closed' | 'no-member'> {
    if (!(await lockRequest(run, ref, pendingStates))) return 'closed'
    const assigning = { ...ref, memberId }
    if (memberId !== null && (await run(member, assigning)).count === 0) return 'no-member'
    await run(assign, assigning)
    insertActivity(run, note)
    return 'assigned'
  },
  async addRequestNote(
    run: Run,
    ref: PrivacyRequestRef,
    { id: noteId, at, by, text }: RequestNote,
    note: ActivityNote,
  ): Promise<'added' | 'closed' | 'too-many'> {
    if (!(await lockRequest(run, ref, pendingStates))) return 'closed'
    if (integer((await run(countNotes, { ...ref })).rows[0] ?? {}, 'rows') >= maxNotes) return 'too-many'
    await run(insertNote, { ...ref, noteId, at, text, ...actorParameters(by) })
    insertActivity(run, note)
    return 'added'
  },
  async deleteRequestNote(
    run: Run,
    ref: PrivacyRequestRef,
    noteId: string,
    note: ActivityNote,
  ): Promise<boolean> {
    if (!(await lockRequest(run, ref, pendingStates))) return false
    if ((await run(deleteNote, { ...ref, noteId })).count === 0) return false
    noteDeletion(run)
    insertActivity(run, note)
    return true
  },
  async excludeRequestRecord(
    run: Run,
    ref: PrivacyRequestRef,
    { trackerId, reason, at, by }: Omit<RequestExclusion, 'digest'>,
    digests: readonly [Uint8Array, ...Uint8Array[]],
    note: ActivityNote,
  ): Promise<'excluded' | 'not-open' | 'too-many' | 'already'> {
    if (!(await lockRequest(run, ref, ['open']))) return 'not-open'
    for (const digest of digests) if ((await run(excluded, { ...ref, digest })).count !== 0) return 'already'
    const count = integer((await run(countExclusions, { ...ref })).rows[0] ?? {}, 'rows')
    if (count >= maxExclusions) return 'too-many'
    const row = { ...ref, digest: digests[0], trackerId, reason, at, ...actorParameters(by) }
    await run(insertExclusion, row)
    insertActivity(run, note)
    return 'excluded'
  },
  async includeRequestRecord(
    run: Run,
    ref: PrivacyRequestRef,
    digests: readonly Uint8Array[],
    note: ActivityNote,
  ): Promise<'included' | 'not-open' | 'absent'> {
    if (!(await lockRequest(run, ref, ['open']))) return 'not-open'
    let deleted = 0
    for (const digest of digests) deleted += (await run(deleteExclusion, { ...ref, digest })).count
    if (deleted === 0) return 'absent'
    insertActivity(run, note)
    noteDeletion(run)
    return 'included'
  },
}

export function requestHandlingStore(
  engine: Engine<typeof requestHandlingTransactions>,
): RequestHandlingStore {
  return {
    assign: (ref, memberId, note) => engine.transact('assignPrivacyRequest', ref, memberId, note),
    notes: async (ref) => (await engine.read(notes, { ...ref })).map(toNote).sort((a, b) => a.at - b.at),
    addNote: (ref, added, note) => engine.transact('addRequestNote', ref, added, note),
    deleteNote: (ref, id, note) => engine.transact('deleteRequestNote', ref, id, note),
    exclusions: async (ref) =>
      (await engine.read(exclusions, { ...ref })).map(toExclusion).sort((a, b) => a.at - b.at),
    exclude: (ref, excluded, digests, note) =>
      engine.transact('excludeRequestRecord', ref, excluded, digests, note),
    include: (ref, digests, note) => engine.transact('includeRequestRecord', ref, digests, note),
    personDigests: async (ref) =>
      (await engine.read(personDigests, { ...ref })).map((row) => bytes(row, 'digest')),
    async countOpen(organisationId, memberId, today, soon) {
      const [row = {}] = await engine.read(countOpen, { organisationId, memberId, today, soon })
      return {
        open: integer(row, 'open'),
        dueSoon: integer(row, 'due_soon'),
        overdue: integer(row, 'overdue'),
        mine: Math.min(integer(row, 'mine'), maxOpenCount),
      }
    },
  }
}

function toNote(row: Row): RequestNote {
  return { id: text(row, 'id'), at: integer(row, 'at'), by: toActor(row), text: text(row, 'body') }
}

function toExclusion(row: Row): RequestExclusion {
  return {
    digest: bytes(row, 'digest'),
    trackerId: text(row, 'tracker_id'),
    reason: text(row, 'reason'),
    at: integer(row, 'at'),
    by: toActor(row),
  }
}
