import type { ActivityNote } from '../../domain/activity.ts'
import {
  type BatchChange,
  type BatchItem,
  type BatchKind,
  type BatchOfEntry,
  type BatchOutcome,
  type BatchState,
  batchKinds,
  batchOutcomes,
  type ErasureBatch,
  type ErasureBatchStore,
  type NewBatch,
  type NewBatchItem,
} from '../../domain/erasure-batch.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Person } from '../../domain/person.ts'
import { actorParameters, insertActivity, toActor } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation, lockReferenceTables } from './locks.ts'
import { integer, integerOrNull, type Row, text, textOrNull } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

/** What a process that works on a batch does with it. */
export type BatchLeaseStore = Pick<
  ErasureBatchStore,
  'lease' | 'release' | 'next' | 'markTrackerDeleted' | 'extend' | 'finish'
>

// Every transaction locks the organisation first, then the activity, the items and the batch, so that none
// deadlock.

// Everything before the first waiting item has been processed.
export const selectBatch = `SELECT b.*, coalesce((SELECT min(i.place) FROM erasure_batch_items i
    WHERE i.batch_id = b.id AND i.outcome = 'waiting'), b.subjects) AS settled FROM erasure_batches b`
const find = statement(`${selectBatch} WHERE b.id = :id AND b.organisation_id = :organisationId`)
const list = statement(
  `${selectBatch} WHERE b.organisation_id = :organisationId AND b.kind = :kind
   ORDER BY b.created_at DESC, b.id DESC LIMIT :limit`,
)
const overdue = statement(
  `${selectBatch} WHERE b.finished_at IS NULL AND b.created_at < :before ORDER BY b.created_at LIMIT 100`,
)
const open = statement(
  `SELECT count(*) AS open FROM erasure_batches
   WHERE organisation_id = :organisationId AND kind = :kind AND finished_at IS NULL`,
)
// The join order makes SQLite start from the items.
const ofEntries = statement(
  `SELECT i.ledger_index, i.sealed_nonce, b.id, b.kind, b.subjects, b.created_at
   FROM erasure_batch_items i CROSS JOIN erasure_batches b
   WHERE b.id = i.batch_id AND b.organisation_id = :organisationId AND i.ledger_index = ANY (:indexes)`,
)
const items = statement(
  'SELECT * FROM erasure_batch_items WHERE batch_id = :batchId AND place > :after ORDER BY place LIMIT :limit',
)
export const nextWaiting = statement(
  `SELECT place, tracker_id, subject_id FROM erasure_batch_items
   WHERE batch_id = :id AND outcome = 'waiting' ORDER BY place LIMIT 1`,
)
const insert = statement(
  `INSERT INTO erasure_batches (id, organisation_id, state, actor_kind, actor_id, actor_name, request_id, created_at, lines,
     nothing_lines, invalid_lines, repeated_lines, empty_lines, other_lines, subjects, held_until, stepped_at, kind, person)
   VALUES (:id, :organisationId, 'running', :actorKind, :actorId, :actorName, :requestId, :createdAt, :lines, :nothing,
     :invalid, :repeated, :empty, :other, :subjects, 0, 0, :kind, :person)`,
)
const insertItemsFrom = (rows: string) =>
  `INSERT INTO erasure_batch_items (batch_id, place, line, outcome, tracker_id, subject_id)
   SELECT :batchId, (value ->> 0)::bigint, (value ->> 1)::bigint, value ->> 2, value ->> 3, value ->> 4
   FROM ${rows}(:rows)`
const insertItems = statement(
  insertItemsFrom('json_array_elements').replace('(:rows)', '(:rows::json)'),
  'one',
  insertItemsFrom('json_each').replaceAll('::bigint', ''),
)
export const lockInState = statement(
  'SELECT 1 FROM erasure_batches WHERE id = :id AND organisation_id = :organisationId AND state = ANY (:states) FOR UPDATE',
)
const setState = statement('UPDATE erasure_batches SET state = :to WHERE id = :id')
const stopWaiting = statement(
  `UPDATE erasure_batch_items SET outcome = 'stopped', subject_id = NULL WHERE batch_id = :id AND outcome = 'waiting'`,
)
const sums = statement(
  `SELECT count(*) AS erased, coalesce(sum(sessions), 0)::bigint AS sessions, coalesce(sum(events), 0)::bigint AS events
   FROM erasure_batch_items WHERE batch_id = :id AND outcome = 'erased'`,
)
const end = statement(
  `UPDATE erasure_batches SET state = :to, finished_at = :now, erased = :erased, sessions = :sessions, events = :events,
   left_subjects = :left, holder = NULL, resumes_at = NULL, person = NULL WHERE id = :id`,
)
const finished = statement(
  'SELECT id FROM erasure_batches WHERE finished_at < :before ORDER BY finished_at LIMIT 1',
)
const removeItems = statement(
  `DELETE FROM erasure_batch_items WHERE batch_id = :id AND place IN (
     SELECT place FROM erasure_batch_items WHERE batch_id = :id ORDER BY place LIMIT :maxRows)`,
)
const remove = statement('DELETE FROM erasure_batches WHERE id = :id')
/** Records an erasure in the items of all batches that wait for its subject. */
export const settleItems = statement(
  `UPDATE erasure_batch_items SET outcome = 'erased', subject_id = NULL, sessions = :sessions, events = :events,
   ledger_index = :ledgerIndex, sealed_nonce = :sealedNonce WHERE tracker_id = :trackerId AND subject_id = :subjectId`,
)

export const erasureBatchTransactions = {
  async createErasureBatch(
    run: Run,
    batch: NewBatch,
    given: readonly NewBatchItem[],
    note: ActivityNote,
  ): Promise<boolean> {
    if (!(await lockOrganisation(run, batch.organisationId))) return false
    insertActivity(run, note)
    const ofPerson = batch.person
      ? { kind: 'person', person: JSON.stringify(batch.person) }
      : { kind: 'list', person: null }
    await run(insert, { ...batch, ...actorParameters(batch.startedBy), ...ofPerson })
    // Waiting items come first and are processed in this order.
    const isWaiting = ({ outcome }: NewBatchItem) => outcome === 'waiting'
    await addItems(run, batch.id, 0, [
      ...given.filter(isWaiting),
      ...given.filter((item) => !isWaiting(item)),
    ])
    return true
  },
  async changeErasureBatch(
    run: Run,
    { id, organisationId }: Pick<ErasureBatch, 'id' | 'organisationId'>,
    { from, to }: BatchChange,
    now: Instant,
    note: ActivityNote,
  ): Promise<boolean> {
    await lockOrganisation(run, organisationId)
    if ((await run(lockInState, { id, organisationId, states: from })).count === 0) return false
    insertActivity(run, note)
    if (to === 'stopped') {
      await run(stopWaiting, { id })
      await endBatch(run, id, to, now, null)
    } else await run(setState, { id, to })
    return true
  },
  async sweepErasureBatches(run: Run, before: Instant, maxRows: number): Promise<number> {
    lockReferenceTables(run)
    const [row] = (await run(finished, { before })).rows
    if (!row) return 0
    const id = text(row, 'id')
    const { count } = await run(removeItems, { id, maxRows })
    noteDeletion(run)
    if (count === maxRows) return count
    await run(remove, { id })
    return count + 1
  },
}

/** What members and the sweep do with batches. Processing a batch takes a lease: see `batchLeaseStore`. */
export function erasureBatchStore(
  engine: Engine<typeof erasureBatchTransactions>,
): Omit<ErasureBatchStore, keyof BatchLeaseStore> {
  return {
    create: (batch, given, note) => engine.transact('createErasureBatch', batch, given, note),
    async find(organisationId, id) {
      const [row] = await engine.read(find, { id, organisationId })
      return row ? toBatch(row) : null
    },
    list: async (organisationId, kind, limit) =>
      (await engine.read(list, { organisationId, kind, limit })).map(toBatch),
    async countOpen(organisationId, kind) {
      const [row = {}] = await engine.read(open, { organisationId, kind })
      return integer(row, 'open')
    },
    ofEntries: async (organisationId, indexes) =>
      toBatchesOfEntries(await engine.read(ofEntries, { organisationId, indexes })),
    items: async (batchId, after, limit) =>
      (await engine.read(items, { batchId, after, limit })).map(toBatchItem),
    change: (batch, change, now, note) => engine.transact('changeErasureBatch', batch, change, now, note),
    listOverdue: async (before) => (await engine.read(overdue, { before })).map(toBatch),
    sweep: (before, maxRows) => engine.transact('sweepErasureBatches', before, maxRows),
  }
}

export async function endBatch(
  run: Run,
  id: string,
  to: 'done' | 'stopped',
  now: Instant,
  left: number | null,
): Promise<void> {
  const row = (await run(sums, { id })).rows[0] ?? {}
  const counts = {
    erased: integer(row, 'erased'),
    sessions: integer(row, 'sessions'),
    events: integer(row, 'events'),
  }
  await run(end, { id, to, now, left, ...counts })
  // The person, or the subjects that waited, were stored until now.
  noteDeletion(run)
}

/** Appends items to a batch from a position on. */
export async function addItems(
  run: Run,
  batchId: string,
  first: number,
  added: readonly NewBatchItem[],
): Promise<void> {
  const rows = added.map((item, i) => {
    const subject = item.outcome === 'waiting' ? [item.trackerId, item.subjectId] : [null, null]
    return [first + i, item.line, item.outcome, ...subject]
  })
  await run(insertItems, { batchId, rows: JSON.stringify(rows) })
}

export function toBatch(row: Row): ErasureBatch {
  const erased = integerOrNull(row, 'erased')
  return {
    id: text(row, 'id'),
    organisationId: text(row, 'organisation_id'),
    kind: toKind(text(row, 'kind')),
    state: toState(text(row, 'state')),
    startedBy: toActor(row),
    requestId: textOrNull(row, 'request_id'),
    createdAt: integer(row, 'created_at'),
    finishedAt: integerOrNull(row, 'finished_at'),
    lines: integer(row, 'lines'),
    nothing: integer(row, 'nothing_lines'),
    invalid: integer(row, 'invalid_lines'),
    repeated: integer(row, 'repeated_lines'),
    empty: integer(row, 'empty_lines'),
    other: integer(row, 'other_lines'),
    subjects: integer(row, 'subjects'),
    settled: integer(row, 'settled'),
    erased:
      erased === null
        ? null
        : { subjects: erased, sessions: integer(row, 'sessions'), events: integer(row, 'events') },
    person: toPerson(textOrNull(row, 'person')),
    checkedAt: integerOrNull(row, 'checked_at'),
    left: integerOrNull(row, 'left_subjects'),
    resumesAt: integerOrNull(row, 'resumes_at'),
  }
}

/** The batch of a person comes before those of lists, and newer ones before older ones. */
function toBatchesOfEntries(rows: readonly Row[]): BatchOfEntry[] {
  const isPerson = (row: Row) => Number(row.kind === 'person')
  return rows
    .toSorted((a, b) => isPerson(b) - isPerson(a) || integer(b, 'created_at') - integer(a, 'created_at'))
    .map((row) => ({
      ledgerIndex: integer(row, 'ledger_index'),
      sealedNonce: text(row, 'sealed_nonce'),
      batch: { id: text(row, 'id'), kind: toKind(text(row, 'kind')), subjects: integer(row, 'subjects') },
    }))
}

function toPerson(json: string | null): Person | null {
  return json === null ? null : JSON.parse(json)
}

function toKind(text: string): BatchKind {
  const kind = batchKinds.find((known) => known === text)
  if (kind) return kind
  throw new Error(`The store holds a batch of a kind "${text}" that this program does not know.`)
}

function toBatchItem(row: Row): BatchItem {
  const ledgerIndex = integerOrNull(row, 'ledger_index')
  return {
    position: integer(row, 'place'),
    line: integer(row, 'line'),
    outcome: toOutcome(text(row, 'outcome')),
    trackerId: textOrNull(row, 'tracker_id'),
    erasure: ledgerIndex === null ? null : { ledgerIndex, sealedNonce: text(row, 'sealed_nonce') },
  }
}

function toState(state: string): BatchState {
  if (state === 'running' || state === 'paused' || state === 'stopped' || state === 'done') return state
  throw new Error(`The store holds a batch in a state "${state}" that this program does not know.`)
}

function toOutcome(text: string): BatchOutcome {
  const outcome = batchOutcomes.find((known) => known === text)
  if (outcome) return outcome
  throw new Error(`The store holds an outcome "${text}" that this program does not know.`)
}
