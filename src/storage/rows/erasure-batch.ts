import {
  type BatchItem,
  type BatchKind,
  type BatchLoan,
  type BatchOfEntry,
  type BatchOutcome,
  type BatchState,
  batchKinds,
  batchOutcomes,
  type ErasureBatch,
  type NewBatch,
  type NewBatchItem,
  type WaitingItem,
} from '../../domain/erasure-batch.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Person, SubjectRef } from '../../domain/person.ts'
import { toActor } from './activity.ts'
import { integer, integerOrNull, type Row, text, textOrNull } from './row.ts'

/** What a new batch is stored in; `batchValues` come in the same order. */
export const batchColumns = [
  ...['id', 'organisation_id', 'state', 'actor_kind', 'actor_id', 'actor_name', 'request_id', 'created_at'],
  ...['lines', 'nothing_lines', 'invalid_lines', 'repeated_lines', 'empty_lines', 'other_lines', 'subjects'],
  ...['held_until', 'stepped_at'],
  ...['kind', 'person'],
]

export function batchValues(batch: NewBatch): (string | number | null)[] {
  const { id, organisationId, startedBy: actor, requestId, createdAt } = batch
  const { lines, nothing, invalid, repeated, empty, other, subjects } = batch
  const [actorId, actorName] = actor.kind === 'command-line' ? [null, null] : [actor.id, actor.name]
  return [
    ...[id, organisationId, 'running', actor.kind, actorId, actorName, requestId, createdAt],
    ...[lines, nothing, invalid, repeated, empty, other, subjects, 0, 0],
    ...(batch.person ? ['person', JSON.stringify(batch.person)] : ['list', null]),
  ]
}

/** What a new item is stored in, behind its batch and its place. */
export const itemColumns = ['line', 'outcome', 'tracker_id', 'subject_id']

export function itemValues(item: NewBatchItem): [number, string, string | null, string | null] {
  if (item.outcome !== 'waiting') return [item.line, item.outcome, null, null]
  return [item.line, item.outcome, item.trackerId, item.subjectId]
}

/** Those that wait come first, and in their places they have their turns. */
export function inTurn(items: readonly NewBatchItem[]): NewBatchItem[] {
  const isWaiting = ({ outcome }: NewBatchItem) => outcome === 'waiting'
  return [...items.filter(isWaiting), ...items.filter((item) => !isWaiting(item))]
}

/** No loan from now ends after this, whose clock may be ahead by as much as a loan lasts: one that does is not waited for. */
export function latestEnd({ now, until }: BatchLoan): Instant {
  return until + (until - now)
}

/** How many subjects of a batch `b` have had their turn: all those before the first that waits. */
export const settledColumn = `coalesce((SELECT min(i.place) FROM erasure_batch_items i
  WHERE i.batch_id = b.id AND i.outcome = 'waiting'), b.subjects) AS settled`

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

/** Asks for the batches of an organisation's erasures; `which` says of which entries. Their items are found before them. */
export const ofEntries = (organisation: string, which: string) =>
  `SELECT i.ledger_index, i.sealed_nonce, b.id, b.kind, b.subjects, b.created_at
   FROM erasure_batch_items i CROSS JOIN erasure_batches b
   WHERE b.id = i.batch_id AND b.organisation_id = ${organisation} AND i.ledger_index ${which}`

/** That of a person comes before those of lists, and the newest one first. */
export function toBatchesOfEntries(rows: readonly Row[]): BatchOfEntry[] {
  const isPerson = (row: Row) => Number(row.kind === 'person')
  return rows
    .toSorted((a, b) => isPerson(b) - isPerson(a) || integer(b, 'created_at') - integer(a, 'created_at'))
    .map(toBatchOfEntry)
}

function toBatchOfEntry(row: Row): BatchOfEntry {
  return {
    ledgerIndex: integer(row, 'ledger_index'),
    sealedNonce: text(row, 'sealed_nonce'),
    batch: { id: text(row, 'id'), kind: toKind(text(row, 'kind')), subjects: integer(row, 'subjects') },
  }
}

/** Subjects that are added to a batch behind those that it has. All are of its one line. */
export function addedItem({ trackerId, subjectId }: SubjectRef): NewBatchItem {
  return { line: 1, outcome: 'waiting', trackerId, subjectId }
}

/** It was stored by `batchValues`. */
function toPerson(json: string | null): Person | null {
  return json === null ? null : JSON.parse(json)
}

function toKind(text: string): BatchKind {
  const kind = batchKinds.find((known) => known === text)
  if (kind) return kind
  throw new Error(`The store holds a batch of a kind "${text}" that this program does not know.`)
}

export function toBatchItem(row: Row): BatchItem {
  const ledgerIndex = integerOrNull(row, 'ledger_index')
  return {
    place: integer(row, 'place'),
    line: integer(row, 'line'),
    outcome: toOutcome(text(row, 'outcome')),
    trackerId: textOrNull(row, 'tracker_id'),
    erasure: ledgerIndex === null ? null : { ledgerIndex, sealedNonce: text(row, 'sealed_nonce') },
  }
}

export function toWaitingItem(row: Row): WaitingItem {
  return {
    place: integer(row, 'place'),
    trackerId: text(row, 'tracker_id'),
    subjectId: text(row, 'subject_id'),
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
