import type { ActivityNote, DataCounts } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import { howManyFit } from '../../domain/page.ts'
import type { Person } from '../../domain/person.ts'
import {
  type NamedRequest,
  type NewPrivacyRequest,
  type PrivacyRequest,
  type PrivacyRequestPosition,
  type PrivacyRequestRef,
  type PrivacyRequestStore,
  type RequestClosing,
  type RequestItem,
  type RequestOfEntry,
  requestKinds,
  requestOutcomes,
  requestStates,
} from '../../domain/privacy-request.ts'
import { toPage } from '../rules/page.ts'
import { actorParameters, insertActivity, toActor } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { readInbox } from './inbox.ts'
import { bytesOfRequest, requestPage } from './list-privacy-request.ts'
import { lockOrganisation } from './locks.ts'
import { asJson, integer, integerOrNull, known, type Row, text, textOrNull } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { type NamedValues, statement } from './statement.ts'

/** What the sweep does with closed requests. */
export type RequestSweepStore = Pick<PrivacyRequestStore, 'sweep' | 'countClosedBefore'>

/** What a process that works on a request does with it. */
export type RequestLeaseStore = Pick<
  PrivacyRequestStore,
  'lease' | 'release' | 'next' | 'markTrackerDeleted' | 'addSubjects' | 'finish'
>

// Every transaction locks the organisation first, then the request and its items, so that none deadlock.

const own = 'organisation_id = :organisationId AND id = :id'
export const ownItems = 'organisation_id = :organisationId AND request_id = :id'

const find = statement(`SELECT * FROM privacy_requests WHERE ${own}`)
// The join order makes SQLite start from the digest.
const ofPerson = statement(
  `SELECT r.* FROM privacy_request_people p CROSS JOIN privacy_requests r
   WHERE p.organisation_id = :organisationId AND p.digest = :digest
     AND r.organisation_id = p.organisation_id AND r.id = p.request_id
   ORDER BY p.received_at DESC, p.request_id DESC LIMIT :limit`,
)
const items = statement(
  `SELECT * FROM privacy_request_items WHERE ${ownItems} AND place > :after ORDER BY place LIMIT :limit`,
)
const unproven = statement(
  `SELECT count(*) AS items FROM privacy_request_items WHERE ${ownItems} AND ledger_index IS NULL`,
)
const anyProven = statement(
  `SELECT 1 FROM privacy_request_items WHERE ${ownItems} AND ledger_index IS NOT NULL LIMIT 1`,
)
const ofEntries = statement(
  `SELECT i.ledger_index, i.sealed_nonce, i.identifier, r.id, r.reference, r.created_at
   FROM privacy_request_items i CROSS JOIN privacy_requests r
   WHERE i.organisation_id = :organisationId AND i.ledger_index = ANY (:indexes)
     AND r.organisation_id = i.organisation_id AND r.id = i.request_id`,
)
const findMany = statement(
  'SELECT id, reference FROM privacy_requests WHERE organisation_id = :organisationId AND id = ANY (:ids)',
)
const insert = statement(
  `INSERT INTO privacy_requests (organisation_id, id, kind, state, reference, received_at, due_at, person, names_identifiers,
     content_digest, created_at, creator_kind, creator_id, creator_name, found_subjects, found_sessions, found_events, erased_subjects,
     erased_sessions, erased_events, searches, held_identifiers, runs_at, list_line, shares_reference)
   VALUES (:organisationId, :id, :kind, 'open', :reference, :receivedAt, :dueAt, :person, :namesIdentifiers,
     :contentDigest, :createdAt, :actorKind, :actorId, :actorName, :foundSubjects, :foundSessions, :foundEvents, 0, 0, 0, 0, '[]', 0,
     :listLine, :sharesReference)
   ON CONFLICT (organisation_id, id) DO NOTHING`,
)
const sameReference = statement(
  `SELECT 1 FROM privacy_requests WHERE organisation_id = :organisationId AND reference = :reference
     AND state IN (${requestStates.map((each) => `'${each}'`).join(', ')}) AND kind = :kind LIMIT 1`,
)
export const insertPerson = statement(
  `INSERT INTO privacy_request_people (organisation_id, digest, received_at, request_id)
   VALUES (:organisationId, :digest, :receivedAt, :id) ON CONFLICT DO NOTHING`,
)
export const lockInState = statement(
  `SELECT 1 FROM privacy_requests WHERE ${own} AND state = ANY (:states) FOR UPDATE`,
)
const extend = statement(
  `UPDATE privacy_requests SET due_at = :dueAt, extended_at = :now, extension_reason = :reason
   WHERE ${own} AND closed_at IS NULL AND extended_at IS NULL`,
)
const stopWaiting = statement(
  `UPDATE privacy_request_items SET outcome = 'stopped', subject_id = NULL WHERE ${ownItems} AND outcome = 'waiting'`,
)
/** Counts only subjects about which something was stored. */
export const sumErased = statement(
  `SELECT coalesce(sum(held), 0)::bigint AS subjects, coalesce(sum(sessions), 0)::bigint AS sessions,
     coalesce(sum(events), 0)::bigint AS events FROM privacy_request_items WHERE ${ownItems} AND outcome = 'erased'`,
)
const end = statement(
  `UPDATE privacy_requests SET state = :to, closed_at = :now, rejection_reason = :rejectionReason, left_subjects = :left,
     erased_subjects = :subjects, erased_sessions = :sessions, erased_events = :events, holder = NULL, resumes_at = NULL,
     person = NULL
   WHERE ${own}`,
)
const closedAfter = statement(
  `SELECT closed_at, organisation_id, id, created_at FROM privacy_requests
   WHERE closed_at IS NOT NULL AND (closed_at, organisation_id, id) > (:closedAt, :organisationId, :id)
   ORDER BY closed_at, organisation_id, id LIMIT :limit`,
)
export const removeNotes = statement(`DELETE FROM privacy_request_notes WHERE ${ownItems}`)
export const removeExclusions = statement(`DELETE FROM privacy_request_exclusions WHERE ${ownItems}`)
/** Records an erasure in the items of all requests that wait for its subject. */
export const settleRequestItems = statement(
  `UPDATE privacy_request_items SET outcome = 'erased', subject_id = NULL, sessions = :sessions, events = :events,
   ledger_index = :ledgerIndex, sealed_nonce = :sealedNonce WHERE tracker_id = :trackerId AND subject_id = :subjectId`,
)

export const privacyRequestTransactions = {
  async createPrivacyRequest(
    run: Run,
    request: NewPrivacyRequest,
    digests: readonly Uint8Array[],
    note: ActivityNote,
  ): Promise<'created' | 'taken' | 'absent'> {
    const { organisationId, id, receivedAt, person, createdBy, found, listLine = 0 } = request
    if (!(await lockOrganisation(run, organisationId))) return 'absent'
    const row = { ...request, ...actorParameters(createdBy), ...foundParameters(found) }
    const namesIdentifiers = person.identifiers.length > 0 ? 1 : 0
    const isShared = await sharesItsReference(run, { ...request, listLine })
    const { count } = await run(insert, {
      ...row,
      sharesReference: isShared ? 1 : 0,
      person: JSON.stringify(person),
      namesIdentifiers,
      listLine,
    })
    if (count === 0) return 'taken'
    for (const digest of digests) await run(insertPerson, { organisationId, id, receivedAt, digest })
    insertActivity(run, note)
    return 'created'
  },
  async extendPrivacyRequest(
    run: Run,
    { organisationId, id }: PrivacyRequestRef,
    extension: { dueAt: Instant; reason: string; now: Instant },
    note: ActivityNote,
  ): Promise<boolean> {
    await lockOrganisation(run, organisationId)
    if ((await run(extend, { organisationId, id, ...extension })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async closePrivacyRequest(
    run: Run,
    { organisationId, id }: PrivacyRequestRef,
    closing: RequestClosing,
    note: ActivityNote,
  ): Promise<boolean> {
    await lockOrganisation(run, organisationId)
    if ((await run(lockInState, { organisationId, id, states: closing.from })).count === 0) return false
    insertActivity(run, note)
    await run(stopWaiting, { organisationId, id })
    await endRequest(run, { organisationId, id }, { ...closing, left: null })
    return true
  },
}

/** Whether a request to store shares its reference. Of a list, all do, as far as anybody knows. */
export async function sharesItsReference(
  run: Run,
  {
    organisationId,
    kind,
    reference,
    listLine,
  }: Pick<PrivacyRequest, 'organisationId' | 'kind' | 'reference' | 'listLine'>,
): Promise<boolean> {
  if (listLine > 0 || reference === null) return listLine > 0
  return (await run(sameReference, { organisationId, kind, reference })).count > 0
}

/** What members and keys do with requests. Processing takes a lease: see `requestLeaseStore`. */
export function privacyRequestStore(
  engine: Engine<typeof privacyRequestTransactions>,
): Omit<PrivacyRequestStore, keyof RequestLeaseStore | keyof RequestSweepStore> {
  return {
    create: (request, digests, note) => engine.transact('createPrivacyRequest', request, digests, note),
    async find(ref) {
      const [row] = await engine.read(find, { ...ref })
      if (!row) return null
      const request = toRequest(row)
      if (request.state !== 'running') return request
      const [sums] = await engine.read(sumErased, { ...ref })
      return sums ? { ...request, erased: toCounts(sums) } : request
    },
    async list(organisationId, query) {
      const rows = query.isGrouped
        ? await readInbox(engine, organisationId, query)
        : await engine.read(...requestPage(organisationId, query))
      const limit = Math.min(query.limit, howManyFit(rows, bytesOfRequest))
      const requests = rows.slice(0, limit + 1).map(toRequest)
      return toPage(requests, limit, ({ dueAt, id }): PrivacyRequestPosition => ({ dueAt, id }))
    },
    async ofPerson(organisationId, digests, limit) {
      const found = new Map<string, PrivacyRequest>()
      for (const digest of digests) {
        const rows = await engine.read(ofPerson, { organisationId, digest, limit })
        for (const request of rows.map(toRequest)) found.set(request.id, request)
      }
      const newestFirst = [...found.values()].sort((a, b) => b.receivedAt - a.receivedAt)
      return newestFirst.slice(0, limit)
    },
    extend: (ref, extension, note) => engine.transact('extendPrivacyRequest', ref, extension, note),
    close: (ref, closing, note) => engine.transact('closePrivacyRequest', ref, closing, note),
    items: async (ref, after, limit) => (await engine.read(items, { ...ref, after, limit })).map(toItem),
    async countUnproven(ref) {
      const [row = {}] = await engine.read(unproven, { ...ref })
      return integer(row, 'items')
    },
    hasEntries: async (ref) => (await engine.read(anyProven, { ...ref })).length > 0,
    findMany: async (organisationId, ids) =>
      (await engine.read(findMany, { organisationId, ids })).map(toNamedRequest),
    ofEntries: async (organisationId, indexes) =>
      toRequestsOfEntries(await engine.read(ofEntries, { organisationId, indexes })),
    async listClosed(after, limit) {
      const start = after ?? { closedAt: Number.MIN_SAFE_INTEGER, organisationId: '', id: '' }
      const rows = await engine.read(closedAfter, { ...start, limit })
      return rows.map((row) => {
        const [closedAt, createdAt] = [integer(row, 'closed_at'), integer(row, 'created_at')]
        return { ...toRef(row), closedAt, createdAt }
      })
    },
  }
}

export async function endRequest(
  run: Run,
  { organisationId, id }: PrivacyRequestRef,
  closing: Pick<RequestClosing, 'now' | 'rejectionReason'> & {
    to: RequestClosing['to'] | 'done'
    left: number | null
  },
): Promise<void> {
  const [sums] = (await run(sumErased, { organisationId, id })).rows
  await run(end, { organisationId, id, ...closing, ...toCounts(sums ?? {}) })
  await run(removeNotes, { organisationId, id })
  // The person, the subjects that waited and the notes were stored until now.
  noteDeletion(run)
}

export function foundParameters({ subjects, sessions, events }: DataCounts): NamedValues {
  return { foundSubjects: subjects, foundSessions: sessions, foundEvents: events }
}

export function toRequest(row: Row): PrivacyRequest {
  return {
    id: text(row, 'id'),
    organisationId: text(row, 'organisation_id'),
    kind: known(requestKinds, row.kind, 'a request of a kind'),
    state: known(requestStates, row.state, 'a request in a state'),
    reference: textOrNull(row, 'reference'),
    receivedAt: integer(row, 'received_at'),
    dueAt: integer(row, 'due_at'),
    extendedAt: integerOrNull(row, 'extended_at'),
    extensionReason: textOrNull(row, 'extension_reason'),
    closedAt: integerOrNull(row, 'closed_at'),
    rejectionReason: textOrNull(row, 'rejection_reason'),
    person: toPerson(row),
    namesIdentifiers: integer(row, 'names_identifiers') !== 0,
    contentDigest: text(row, 'content_digest'),
    createdAt: integer(row, 'created_at'),
    createdBy: toActor({
      actor_kind: row.creator_kind,
      actor_id: row.creator_id,
      actor_name: row.creator_name,
    }),
    startedBy: row.actor_kind === null ? null : toActor(row),
    requestId: textOrNull(row, 'request_id'),
    found: toCounts(row, 'found_'),
    erased: toCounts(row, 'erased_'),
    searchedAt: integerOrNull(row, 'searched_at'),
    searches: integer(row, 'searches'),
    heldIdentifiers: asJson<number[]>(row.held_identifiers, 'held_identifiers'),
    left: integerOrNull(row, 'left_subjects'),
    resumesAt: integerOrNull(row, 'resumes_at'),
    assigneeId: textOrNull(row, 'assignee_id'),
    approval: toApproval(row),
    listLine: integer(row, 'list_line'),
  }
}

export function toPerson({ person }: Row): Person | null {
  return person === null ? null : asJson<Person>(person, 'person')
}

function toApproval(row: Row): PrivacyRequest['approval'] {
  const askedAt = integerOrNull(row, 'approval_asked_at')
  if (askedAt === null || row.state !== 'open') return null
  const [id, name] = [text(row, 'approval_asker_id'), text(row, 'approval_asker_name')]
  return { askedAt, askedBy: { kind: 'member', id, name } }
}

export function toRef(row: Row): PrivacyRequestRef {
  return { organisationId: text(row, 'organisation_id'), id: text(row, 'id') }
}

export function toCounts(row: Row, prefix = ''): DataCounts {
  return {
    subjects: integer(row, `${prefix}subjects`),
    sessions: integer(row, `${prefix}sessions`),
    events: integer(row, `${prefix}events`),
  }
}

function toItem(row: Row): RequestItem {
  const ledgerIndex = integerOrNull(row, 'ledger_index')
  return {
    position: integer(row, 'place'),
    outcome: known(requestOutcomes, row.outcome, 'an outcome'),
    trackerId: textOrNull(row, 'tracker_id'),
    identifier: textOrNull(row, 'identifier'),
    entry: ledgerIndex === null ? null : { ledgerIndex, sealedNonce: text(row, 'sealed_nonce') },
  }
}

/** Newest first. */
function toRequestsOfEntries(rows: readonly Row[]): RequestOfEntry[] {
  return rows
    .toSorted((a, b) => integer(b, 'created_at') - integer(a, 'created_at'))
    .map((row) => ({
      ledgerIndex: integer(row, 'ledger_index'),
      sealedNonce: text(row, 'sealed_nonce'),
      identifier: textOrNull(row, 'identifier'),
      request: toNamedRequest(row),
    }))
}

function toNamedRequest(row: Row): NamedRequest {
  return { id: text(row, 'id'), reference: textOrNull(row, 'reference') }
}
