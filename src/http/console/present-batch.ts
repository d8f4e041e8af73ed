import type { BatchLines, ErasureBatch } from '../../domain/erasure-batch.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { BatchPlan } from '../../operations/erasure-batch/plan-batch.ts'
import type { ReportedItem } from '../../operations/erasure-batch/report-batch.ts'
import { orNull } from './present.ts'

export function presentBatch(batch: ErasureBatch) {
  // Whom it is about is nobody's to read: who started it knows.
  const { organisationId: _, person: __, createdAt, finishedAt, checkedAt, resumesAt, ...rest } = batch
  return {
    ...{ ...rest, ...sumLines(batch), createdAt: formatInstant(createdAt), finishedAt: orNull(finishedAt) },
    ...{ checkedAt: orNull(checkedAt), resumesAt: orNull(resumesAt) },
  }
}

/** So many lines that lead to nobody are named. */
const mostNamed = 100

function sumLines({ lines, invalid, repeated, empty, other }: BatchLines) {
  return { read: lines + empty + other, used: lines - invalid - repeated }
}

export function presentPlan({ items, trackers, ...plan }: BatchPlan) {
  const others = items.flatMap(({ line, outcome }) => (outcome === 'waiting' ? [] : [{ line, outcome }]))
  return {
    ...plan,
    ...sumLines(plan),
    trackers: Array.from(trackers, ([trackerId, subjects]) => ({ trackerId, subjects })),
    others: others.slice(0, mostNamed),
  }
}

/** An item of a report. */
export function presentReported({ line, outcome, trackerId, erasure }: ReportedItem) {
  return {
    ...{ line, outcome, trackerId },
    ...(erasure && { ...erasure, erasedAt: formatInstant(erasure.erasedAt) }),
  }
}
