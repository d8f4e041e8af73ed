import { setImmediate as nextIteration } from 'node:timers/promises'
import { type BatchLines, batchKinds, type ErasureBatch } from '../../domain/erasure-batch.ts'
import { formatInstant } from '../../domain/instant.ts'
import {
  type BatchVerb,
  certifyBatch,
  changeBatch,
  type ReportedItem,
  reportBatch,
  requireBatch,
  startBatch,
} from '../../operations/erasure-batch.ts'
import { type BatchPlan as PlannedBatch, planBatch } from '../../operations/plan-erasure-batch.ts'
import { Counts } from '../api/fields.ts'
import { identifier } from '../parameters.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute, organisationView } from '../route.ts'
import { integer, list, object, oneOf, optional, orNull, text } from '../schema.ts'
import { Certificate, presentCertificate } from './erasures.ts'
import { Actor, instant, instantOrNull } from './fields.ts'

/** Each line is used, empty, invalid, repeated or `other` (BatchLines). */
const batchLines = {
  ...{ read: integer(), used: integer(), empty: integer(), invalid: integer(), repeated: integer() },
  ...{ other: integer(), nothing: integer(), lines: integer() },
}

export const Batch = object(
  {
    ...{ id: text(), kind: oneOf(batchKinds), state: oneOf(['running', 'paused', 'stopped', 'done']) },
    ...{ startedBy: Actor, requestId: orNull(text()), createdAt: instant, finishedAt: orNull(instant) },
    ...batchLines,
    ...{ subjects: integer(), settled: integer() },
    erased: orNull(object({ subjects: integer(), sessions: integer(), events: integer() })),
    ...{ checkedAt: orNull(instant), left: orNull(integer()), resumesAt: orNull(instant) },
  },
  { title: 'Batch' },
)

export const BatchPlan = object(
  {
    ...batchLines,
    ...{ found: integer(), subjects: integer(), counts: Counts, hidden: integer() },
    trackers: list(object({ trackerId: text(), subjects: integer() })),
    others: list(object({ line: integer(), outcome: oneOf(['nothing', 'invalid', 'repeated']) })),
  },
  { title: 'BatchPlan' },
)

export const BatchList = object({ batches: list(Batch) }, { title: 'BatchList' })

/** A page of the erasures of a batch, and of the items it did not erase. */
export const BatchCertificate = object(
  {
    batch: Batch,
    certificates: list(Certificate),
    ...{ waiting: integer(), gone: integer(), stopped: integer() },
    nextPlace: orNull(integer()),
  },
  { title: 'BatchCertificate' },
)

/** The limit of a request with a list of people. */
export const maxListBytes = 4 * 1024 * 1024

/** The list of a batch and how to read it. */
export const batchFields = {
  text: text({ maxLength: maxListBytes, 'x-rule': 'a list with one data subject or person per line' }),
  format: oneOf(['lines', 'csv'], { 'x-rule': 'lines or csv' }),
  column: optional(text({ maxLength: 1_000, 'x-rule': 'the name of a column' })),
  by: oneOf(['subjectId', 'email'], { 'x-rule': 'subjectId or email' }),
  trackerIds: list(text(identifier), {
    maxItems: 1_000,
    'x-rule': 'a list of trackers, empty for all of them',
  }),
}

export const typedSubjects = integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  'x-rule': 'the number of data subjects to erase',
})

/** The position in a batch after which a page of its certificate starts. */
export const certificateAfter = optional(integer({ minimum: 0, 'x-rule': 'a whole number, 0 or more' }))

/** How many of an organisation's batches are listed, newest first. */
export const maxListedBatches = 100

export const batchRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/batches',
    access: 'viewer',
    response: BatchList,
    async handle({ services, context }) {
      const { organisationId } = identityOf(context)
      const batches = await services.erasureBatches.list(organisationId, 'list', maxListedBatches)
      return { batches: batches.map(presentBatch) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/batches/preview',
    access: 'desk',
    body: batchFields,
    maxBodyBytes: maxListBytes,
    response: BatchPlan,
    async handle(call) {
      const { services, body, context } = call
      return presentPlan(await planBatch(services, organisationView(call), body, context.gone))
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/batches',
    access: 'desk',
    body: { ...batchFields, subjects: typedSubjects },
    maxBodyBytes: maxListBytes,
    response: Batch,
    async handle(call) {
      const { subjects, ...wanted } = call.body
      const origin = originOf(call.context)
      const batch = await startBatch(call.services, organisationView(call), wanted, subjects, origin)
      call.http.wakeBatches()
      return presentBatch(batch)
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/batches/{batchId}',
    access: 'viewer',
    response: Batch,
    async handle({ services, context, path }) {
      return presentBatch(await requireBatch(services, identityOf(context).organisationId, path.batchId))
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/batches/{batchId}/certificate',
    access: 'viewer',
    query: { after: certificateAfter },
    response: BatchCertificate,
    async handle({ services, signedIn: { organisation }, path, query }) {
      const batch = await requireBatch(services, organisation.id, path.batchId)
      const { certificates, ...page } = await certifyBatch(services, batch, query.after ?? -1)
      return {
        ...{ ...page, batch: presentBatch(batch) },
        certificates: certificates.map(presentCertificate),
      }
    },
  }),
  changing('pause'),
  changing('resume'),
  changing('stop'),
  defineRoute({
    method: 'GET',
    path: '/console/api/batches/{batchId}/report',
    access: 'desk',
    response: null,
    async handle({ services, context, path, http }) {
      const batch = await requireBatch(services, identityOf(context).organisationId, path.batchId)
      const name = `lethe-${batch.id}.json`
      const headers = ['Content-Disposition', `attachment; filename="${name}"`]
      await http.respond.stream(
        context,
        ({ add, signal }) =>
          services.jobs.run(
            batch.organisationId,
            async (giveWay) => {
              await add(`{"batch":${JSON.stringify(presentBatch(batch))},"items":[`)
              let separator = '\n'
              for await (const items of reportBatch(services, batch)) {
                await add(separator + items.map((item) => JSON.stringify(presentReported(item))).join(',\n'))
                separator = ',\n'
                await nextIteration()
                await giveWay()
              }
              // A truncated report does not parse.
              await add('\n]}\n')
            },
            signal,
          ),
        headers,
      )
    },
  }),
]

function changing(verb: BatchVerb) {
  return defineRoute({
    method: 'POST',
    path: `/console/api/batches/{batchId}/${verb}`,
    access: 'desk',
    body: {},
    response: Batch,
    async handle({ services, context, path }) {
      const { organisationId } = identityOf(context)
      return presentBatch(await changeBatch(services, organisationId, path.batchId, verb, originOf(context)))
    },
  })
}

export function presentBatch(batch: ErasureBatch) {
  // The person is not returned: the member who started it knows.
  const { organisationId: _, person: __, createdAt, finishedAt, checkedAt, resumesAt, ...rest } = batch
  return {
    ...{
      ...rest,
      ...sumLines(batch),
      createdAt: formatInstant(createdAt),
      finishedAt: instantOrNull(finishedAt),
    },
    ...{ checkedAt: instantOrNull(checkedAt), resumesAt: instantOrNull(resumesAt) },
  }
}

/** How many lines without a match are listed. */
const maxNamed = 100

function sumLines({ lines, invalid, repeated, empty, other }: BatchLines) {
  return { read: lines + empty + other, used: lines - invalid - repeated }
}

function presentPlan({ items, trackers, ...plan }: PlannedBatch) {
  const others = items.flatMap(({ line, outcome }) => (outcome === 'waiting' ? [] : [{ line, outcome }]))
  return {
    ...plan,
    ...sumLines(plan),
    trackers: Array.from(trackers, ([trackerId, subjects]) => ({ trackerId, subjects })),
    others: others.slice(0, maxNamed),
  }
}

/** An item of a report. */
function presentReported({ line, outcome, trackerId, erasure }: ReportedItem) {
  return {
    ...{ line, outcome, trackerId },
    ...(erasure && { ...erasure, erasedAt: formatInstant(erasure.erasedAt) }),
  }
}
