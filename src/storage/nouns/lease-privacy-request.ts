import type { ActivityNote } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import type { AppendedEntry } from '../../domain/ledger.ts'
import type {
  NothingHeldEntry,
  PrivacyRequestRef,
  RequestEnd,
  RequestLease,
  RequestSearch,
  WaitingSubject,
} from '../../domain/privacy-request.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { appendRecords } from './ledger.ts'
import { lockOrganisation } from './locks.ts'
import {
  endRequest,
  foundParameters,
  lockInState,
  ownItems,
  type RequestLeaseStore,
  sumErased,
  toCounts,
  toRef,
  toRequest,
} from './privacy-request.ts'
import { integer, type Row, text } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

const own = 'organisation_id = :organisationId AND id = :id'
const leased = statement(
  `SELECT 1 FROM privacy_requests WHERE ${own} AND holder = :leaseOwner AND state = 'running'`,
)
const nextWaiting = statement(
  `SELECT place, tracker_id, subject_id FROM privacy_request_items
   WHERE ${ownItems} AND outcome = 'waiting' ORDER BY place LIMIT 1`,
)

// A request is leased by moving the instant at which it runs next to the end of the lease.
const isDue = `state = 'running' AND runs_at <= :now`
const anyDue = statement(`SELECT 1 FROM privacy_requests WHERE ${isDue} LIMIT 1`)
const dueAfter = statement(
  `SELECT organisation_id, id FROM privacy_requests WHERE ${isDue} AND organisation_id > :after
   ORDER BY organisation_id, list_line, runs_at, id LIMIT 1`,
)
const isHeldTooLong = `state = 'running' AND holder IS NOT NULL AND runs_at > :latestEnd`
const heldTooLong = statement(
  `SELECT organisation_id, id FROM privacy_requests WHERE ${isHeldTooLong} LIMIT 1`,
)
const restsTooLong = statement(
  `SELECT organisation_id, id FROM privacy_requests WHERE state = 'running' AND runs_at > :restsUntil
   ORDER BY runs_at DESC LIMIT 1`,
)
const takeLease = statement(
  `UPDATE privacy_requests SET holder = :leaseOwner, runs_at = :until, resumes_at = NULL
   WHERE ${own} AND state = 'running'
     AND (runs_at <= :now OR runs_at > :restsUntil OR (holder IS NOT NULL AND runs_at > :latestEnd))`,
)
const findLeased = statement(`SELECT * FROM privacy_requests WHERE ${own} AND holder = :leaseOwner`)
const release = statement(
  `UPDATE privacy_requests SET holder = NULL, runs_at = :runsAt, resumes_at = :resumesAt,
     erased_subjects = :subjects, erased_sessions = :sessions, erased_events = :events
   WHERE ${own} AND holder = :leaseOwner`,
)
const markTrackerDeleted = statement(
  `UPDATE privacy_request_items SET outcome = 'gone', subject_id = NULL
   WHERE ${ownItems} AND place = :position AND outcome = 'waiting'`,
)
const lockSearched = statement(
  `SELECT 1 FROM privacy_requests
   WHERE ${own} AND holder = :leaseOwner AND state = 'running' AND searches = :searches FOR UPDATE`,
)
const nextPlace = statement(
  `SELECT coalesce(max(place) + 1, 0) AS place FROM privacy_request_items WHERE ${ownItems}`,
)
const insertItemsFrom = (rows: string) =>
  `INSERT INTO privacy_request_items (organisation_id, request_id, place, outcome, tracker_id, subject_id, held)
   SELECT :organisationId, :id, (value ->> 0)::bigint, 'waiting', value ->> 1, value ->> 2, (value ->> 3)::bigint
   FROM ${rows}`
const insertItems = statement(
  insertItemsFrom('json_array_elements(:rows::json)'),
  'one',
  insertItemsFrom('json_each(:rows)').replaceAll('::bigint', ''),
)
const noteSearch = statement(
  `UPDATE privacy_requests SET searches = searches + :complete, searched_at = :now, found_subjects = :foundSubjects,
     found_sessions = :foundSessions, found_events = :foundEvents, held_identifiers = :heldIdentifiers WHERE ${own}`,
)
const noteFound = statement(
  `UPDATE privacy_requests SET found_subjects = :foundSubjects, found_sessions = :foundSessions,
     found_events = :foundEvents WHERE ${own}`,
)
const insertNothingHeld = statement(
  `INSERT INTO privacy_request_items (organisation_id, request_id, place, outcome, held, identifier, ledger_index, sealed_nonce)
   VALUES (:organisationId, :id, :place, 'nothing-held', 0, :name, :ledgerIndex, :sealedNonce)`,
)

export const requestLeaseTransactions = {
  async leasePrivacyRequest(
    run: Run,
    leaseOwner: string,
    ref: PrivacyRequestRef,
    lease: RequestLease,
  ): Promise<boolean> {
    return (await run(takeLease, { ...ref, ...leaseParameters(lease), leaseOwner })).count === 1
  },
  async releasePrivacyRequest(
    run: Run,
    leaseOwner: string,
    { organisationId, id }: PrivacyRequestRef,
    { runsAt, isBudgetSpent }: { runsAt: Instant; isBudgetSpent: boolean },
  ): Promise<void> {
    const [sums] = (await run(sumErased, { organisationId, id })).rows
    const resumesAt = isBudgetSpent ? runsAt : null
    await run(release, { organisationId, id, leaseOwner, runsAt, resumesAt, ...toCounts(sums ?? {}) })
  },
  async markRequestTrackerDeleted(
    run: Run,
    { organisationId, id }: PrivacyRequestRef,
    position: number,
  ): Promise<void> {
    const { count } = await run(markTrackerDeleted, { organisationId, id, position })
    if (count !== 0) noteDeletion(run)
  },
  async addRequestSubjects(
    run: Run,
    leaseOwner: string,
    { organisationId, id }: PrivacyRequestRef,
    searches: number,
    { subjects, found, heldIdentifiers, now, isComplete }: RequestSearch,
  ): Promise<boolean> {
    const ref = { organisationId, id }
    if ((await run(lockSearched, { ...ref, leaseOwner, searches })).count === 0) return false
    if ((await run(nextWaiting, ref)).count !== 0) return false
    const first = integer((await run(nextPlace, ref)).rows[0] ?? {}, 'place')
    const rows = subjects.map(({ trackerId, subjectId, isHeld }, i) => [
      ...[first + i, trackerId, subjectId, isHeld ? 1 : 0],
    ])
    await run(insertItems, { ...ref, rows: JSON.stringify(rows) })
    const sums = { ...foundParameters(found), heldIdentifiers: JSON.stringify(heldIdentifiers) }
    await run(noteSearch, { ...ref, ...sums, now, complete: isComplete ? 1 : 0 })
    return true
  },
  async finishPrivacyRequest(
    run: Run,
    { organisationId, id }: PrivacyRequestRef,
    { lease, now, found, left, nothingHeld, guard }: RequestEnd,
    note: ActivityNote,
  ): Promise<AppendedEntry[] | null> {
    const ref = { organisationId, id }
    await lockOrganisation(run, organisationId)
    const locked = lease
      ? await run(lockSearched, { ...ref, ...lease })
      : await run(lockInState, { ...ref, states: ['open'] })
    if (locked.count === 0) return null
    if ((await run(nextWaiting, ref)).count !== 0) return null
    insertActivity(run, note)
    if (found !== null) await run(noteFound, { ...ref, ...foundParameters(found) })
    await endRequest(run, ref, { to: 'done', now, rejectionReason: null, left })
    return proveNothingHeld(run, ref, nothingHeld, guard)
  },
}

/** Comes last, because it holds the ledger. */
async function proveNothingHeld(
  run: Run,
  ref: PrivacyRequestRef,
  entries: readonly NothingHeldEntry[],
  guard: RequestEnd['guard'],
): Promise<AppendedEntry[]> {
  const first = integer((await run(nextPlace, { ...ref })).rows[0] ?? {}, 'place')
  const records = entries.map(({ record }) => record)
  const appended = await appendRecords(run, ref.organisationId, records, guard)
  for (const [i, { name, sealedNonce }] of entries.entries()) {
    const ledgerIndex = appended[i]?.proof.index
    run(insertNothingHeld, { ...ref, place: first + i, name, ledgerIndex, sealedNonce })
  }
  return appended
}

export function requestLeaseStore(engine: Engine<typeof requestLeaseTransactions>): RequestLeaseStore {
  /** The request that is served next. */
  async function nextToLease(lease: RequestLease): Promise<PrivacyRequestRef | null> {
    const parameters = leaseParameters(lease)
    const [wrong] = [
      ...(await engine.read(heldTooLong, parameters)),
      ...(await engine.read(restsTooLong, parameters)),
    ]
    if (wrong) return toRef(wrong)
    if ((await engine.read(anyDue, parameters)).length === 0) return null
    const [later] = await engine.read(dueAfter, parameters)
    const [row] = later ? [later] : await engine.read(dueAfter, { ...parameters, after: '' })
    return row ? toRef(row) : null
  }

  return {
    async lease(leaseOwner, lease) {
      const ref = await nextToLease(lease)
      if (!ref || !(await engine.transact('leasePrivacyRequest', leaseOwner, ref, lease))) return null
      const [row] = await engine.read(findLeased, { ...ref, leaseOwner })
      return row ? toRequest(row) : null
    },
    release: (leaseOwner, ref, rest) => engine.transact('releasePrivacyRequest', leaseOwner, ref, rest),
    async next(leaseOwner, ref) {
      const [isLeased, [row]] = await Promise.all([
        engine.read(leased, { ...ref, leaseOwner }),
        engine.read(nextWaiting, { ...ref }),
      ])
      if (isLeased.length === 0) return false
      return row ? toWaitingSubject(row) : null
    },
    markTrackerDeleted: (ref, position) => engine.transact('markRequestTrackerDeleted', ref, position),
    addSubjects: (leaseOwner, ref, searches, search) =>
      engine.transact('addRequestSubjects', leaseOwner, ref, searches, search),
    finish: (ref, end, note) => engine.transact('finishPrivacyRequest', ref, end, note),
  }
}

/**
 * No valid lease ends after `latestEnd`, even if its owner's clock is ahead by the length of a lease. Later
 * ones are ignored.
 */
function leaseParameters(lease: RequestLease) {
  const latestEnd = lease.until + (lease.until - lease.now)
  return { ...lease, latestEnd, restsUntil: Math.max(lease.restsUntil, latestEnd) }
}

function toWaitingSubject(row: Row): WaitingSubject {
  return {
    position: integer(row, 'place'),
    trackerId: text(row, 'tracker_id'),
    subjectId: text(row, 'subject_id'),
  }
}
