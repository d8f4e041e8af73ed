import { type ActivityNote, addCounts, type DataCounts } from '../../domain/activity.ts'
import { approvalWindowMs } from '../../domain/approval.ts'
import {
  type PrivacyRequestRef,
  type PrivacyRequestState,
  type RequestClosing,
  requestKinds,
  requestStates,
} from '../../domain/privacy-request.ts'
import type {
  RequestCreation,
  RequestGroup,
  RequestGroupStore,
  RequestStart,
} from '../../domain/request-group.ts'
import { actorParameters, insertActivity } from './activity.ts'
import { unapprovedLeft } from './approval.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { foundParameters, privacyRequestTransactions, toCounts, toPerson } from './privacy-request.ts'
import { integer, integerOrNull, known, type Row, text } from './row.ts'
import { statement } from './statement.ts'

const ofReference = 'organisation_id = :organisationId AND reference = :reference'
const find = statement(
  `SELECT kind, state, count(*) AS requests, count(resumes_at) AS resting, count(approval_asked_at) AS waiting,
     min(resumes_at) AS resumes_at, min(received_at) AS received_at, max(closed_at) AS closed_at,
     sum(found_subjects)::bigint AS found_subjects, sum(found_sessions)::bigint AS found_sessions,
     sum(found_events)::bigint AS found_events, sum(erased_subjects)::bigint AS erased_subjects,
     sum(erased_sessions)::bigint AS erased_sessions, sum(erased_events)::bigint AS erased_events
   FROM privacy_requests WHERE ${ofReference} GROUP BY state, kind`,
)
// Reads the requests themselves, so only if some wait.
const countOwnWaiting = statement(
  `SELECT count(*) AS requests FROM privacy_requests WHERE ${ofReference}
   AND state = 'open' AND approval_asked_at IS NOT NULL AND approval_asker_id = :memberId`,
)
const sizes = statement(
  `SELECT kind, count(*) AS requests FROM privacy_requests
   WHERE organisation_id = :organisationId AND reference = :reference AND state = :state GROUP BY kind`,
)
const withIds = statement(
  'SELECT id, state, found_subjects, person FROM privacy_requests WHERE organisation_id = :organisationId AND id = ANY (:ids)',
)
const start = statement(
  `UPDATE privacy_requests SET state = 'running', actor_kind = :actorKind, actor_id = :actorId, actor_name = :actorName,
     request_id = :requestId, found_subjects = :foundSubjects, found_sessions = :foundSessions, found_events = :foundEvents,
     runs_at = 0
   WHERE organisation_id = :organisationId AND id = :id AND state = 'open' AND (approval_asked_at IS NULL OR :actorKind <> 'member')`,
)
const askForApproval = statement(
  `UPDATE privacy_requests SET approval_asked_at = :now, approval_asker_id = :actorId, approval_asker_name = :actorName
   WHERE organisation_id = :organisationId AND id = :id AND state = 'open' AND approval_asked_at IS NULL`,
)

export const requestGroupTransactions = {
  async createPrivacyRequests(
    run: Run,
    organisationId: string,
    creations: readonly RequestCreation[],
  ): Promise<boolean> {
    if (!(await lockOrganisation(run, organisationId))) return false
    // Together, so that PostgreSQL gets the statements of all of them without waiting for each answer.
    await Promise.all(
      creations.map(({ request, digests, note }) =>
        privacyRequestTransactions.createPrivacyRequest(run, request, digests, note),
      ),
    )
    return true
  },
  async startPrivacyRequests(
    run: Run,
    starts: readonly RequestStart[],
    action: { people: number; started: number },
  ): Promise<{ started: number; waiting: number }> {
    const [first] = starts
    if (!first) return { started: 0, waiting: 0 }
    const { startedBy } = first.starter
    const { organisationId } = first.ref
    await lockOrganisation(run, organisationId)
    const since = first.note.at - approvalWindowMs
    const left =
      startedBy.kind === 'member'
        ? await unapprovedLeft(run, organisationId, startedBy.id, since)
        : Number.POSITIVE_INFINITY
    const mustWait = Math.max(action.people - action.started, starts.length) > left
    const changes = starts.map(async ({ ref, starter, note }) => {
      const { requestId, found } = starter
      const parameters = { ...ref, ...actorParameters(startedBy), ...foundParameters(found), requestId }
      const { count } = await run(mustWait ? askForApproval : start, { ...parameters, now: note.at })
      if (count !== 0) insertActivity(run, mustWait ? { ...note, kind: 'request.approval-asked' } : note)
      return count
    })
    const changed = sum(await Promise.all(changes))
    return mustWait ? { started: 0, waiting: changed } : { started: changed, waiting: 0 }
  },
  async closePrivacyRequests(
    run: Run,
    closings: readonly { ref: PrivacyRequestRef; note: ActivityNote }[],
    closing: RequestClosing,
  ): Promise<number> {
    // One after the other, as every transaction locks requests in the order of their IDs.
    let closed = 0
    for (const { ref, note } of closings)
      if (await privacyRequestTransactions.closePrivacyRequest(run, ref, closing, note)) closed += 1
    return closed
  },
}

export function requestGroupStore(engine: Engine<typeof requestGroupTransactions>): RequestGroupStore {
  return {
    async find(organisationId, reference, memberId) {
      const rows = await engine.read(find, { organisationId, reference })
      if (rows.length === 0) return null
      const group = toGroup(reference, rows)
      if (group.waiting === 0 || memberId === undefined) return { ...group, ownWaiting: 0 }
      const [row = {}] = await engine.read(countOwnWaiting, { organisationId, reference, memberId })
      return { ...group, ownWaiting: integer(row, 'requests') }
    },
    async sizes(organisationId, reference, states) {
      const total = { access: 0, erasure: 0 }
      for (const state of states) {
        const rows = await engine.read(sizes, { organisationId, reference, state })
        for (const row of rows) total[toKind(row)] += integer(row, 'requests')
      }
      return total
    },
    async known(organisationId, ids) {
      const rows = await engine.read(withIds, { organisationId, ids })
      return new Map(
        rows.map((row) => [
          text(row, 'id'),
          { state: toState(row), subjects: integer(row, 'found_subjects'), person: toPerson(row) },
        ]),
      )
    },
    create: (organisationId, creations) =>
      engine.transact('createPrivacyRequests', organisationId, creations),
    start: (starts, action = { people: starts.length, started: 0 }) =>
      engine.transact('startPrivacyRequests', starts, action),
    close: (closings, closing) => engine.transact('closePrivacyRequests', closings, closing),
  }
}

/** From a row for each kind and state. */
function toGroup(reference: string, rows: readonly Row[]): Omit<RequestGroup, 'ownWaiting'> {
  const count = (isMeant: (row: Row) => boolean) =>
    sum(rows.filter(isMeant).map((row) => integer(row, 'requests')))
  const countIn = (state: PrivacyRequestState) => count((row) => row.state === state)
  const open = rows.filter((row) => row.state === 'open')
  const waiting = sum(open.map((row) => integer(row, 'waiting')))
  const running = rows.filter((row) => row.state === 'running')
  const isResting =
    running.length > 0 && sum(running.map((row) => integer(row, 'resting'))) === countIn('running')
  const isClosed = countIn('open') + countIn('running') === 0
  return {
    reference,
    counts: {
      ...{ open: countIn('open'), running: countIn('running'), done: countIn('done') },
      ...{ rejected: countIn('rejected'), cancelled: countIn('cancelled') },
    },
    startable: count((row) => row.kind === 'erasure' && row.state === 'open') - waiting,
    waiting,
    access: count((row) => row.kind === 'access'),
    found: addAll(rows.map((row) => toCounts(row, 'found_'))),
    erased: addAll(rows.map((row) => toCounts(row, 'erased_'))),
    firstReceivedAt: Math.min(...rows.map((row) => integer(row, 'received_at'))),
    closedAt: isClosed ? Math.max(...rows.map((row) => integerOrNull(row, 'closed_at') ?? 0)) : null,
    resumesAt: isResting ? Math.min(...running.map((row) => integer(row, 'resumes_at'))) : null,
  }
}

function addAll(counts: readonly DataCounts[]): DataCounts {
  const total = { subjects: 0, sessions: 0, events: 0 }
  for (const each of counts) addCounts(total, each)
  return total
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

function toKind(row: Row) {
  return known(requestKinds, row.kind, 'a request of a kind')
}

function toState(row: Row): PrivacyRequestState {
  return known(requestStates, row.state, 'a request in a state')
}
