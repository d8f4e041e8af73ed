import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BatchLines, ErasureBatch } from '../../domain/erasure-batch.ts'
import { formatInstant } from '../../domain/instant.ts'
import { planPerson, startPerson } from '../../operations/erase-person.ts'
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
import { presentFound } from '../api/subjects.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute, organisationView } from '../route.ts'
import {
  Batch,
  BatchCertificate,
  BatchList,
  BatchPlan,
  batchFields,
  certificateAfter,
  instantOrNull,
  maxListBytes,
  PersonPlan,
  personField,
  presentCertificate,
  typedSubjects,
} from './fields.ts'

/** So many of an organisation's batches are shown, the newest. */
const mostListed = 100

export const batchRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/batches',
    access: 'member',
    response: BatchList,
    async handle({ services, context }) {
      const { organisationId } = identityOf(context)
      const batches = await services.erasureBatches.list(organisationId, 'list', mostListed)
      return { batches: batches.map(presentBatch) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/batches/preview',
    access: 'member',
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
    access: 'member',
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
    access: 'member',
    response: Batch,
    async handle({ services, context, path }) {
      return presentBatch(await requireBatch(services, identityOf(context).organisationId, path.batchId))
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/batches/{batchId}/certificate',
    access: 'member',
    query: { after: certificateAfter },
    response: BatchCertificate,
    async handle({ services, signedIn: { organisation }, path, query }) {
      const batch = await requireBatch(services, organisation.id, path.batchId)
      const { certificates, ...page } = await certifyBatch(services, batch, query.after ?? -1)
      return {
        ...{ ...page, batch: presentBatch(batch) },
        certificates: certificates.map((each) => presentCertificate(each, organisation.name)),
      }
    },
  }),
  changing('pause'),
  changing('resume'),
  changing('stop'),
  defineRoute({
    method: 'GET',
    path: '/console/api/batches/{batchId}/report',
    access: 'member',
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
                await nextTurn()
                await giveWay()
              }
              // Should it break off before, what is there does not parse.
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
    access: 'member',
    body: {},
    response: Batch,
    async handle({ services, context, path }) {
      const { organisationId } = identityOf(context)
      return presentBatch(await changeBatch(services, organisationId, path.batchId, verb, originOf(context)))
    },
  })
}

function presentBatch(batch: ErasureBatch) {
  // Whom it is about is nobody's to read: who started it knows.
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

/** So many lines that lead to nobody are named. */
const mostNamed = 100

function sumLines({ lines, invalid, repeated, empty, other }: BatchLines) {
  return { read: lines + empty + other, used: lines - invalid - repeated }
}

function presentPlan({ items, trackers, ...plan }: PlannedBatch) {
  const others = items.flatMap(({ line, outcome }) => (outcome === 'waiting' ? [] : [{ line, outcome }]))
  return {
    ...plan,
    ...sumLines(plan),
    trackers: Array.from(trackers, ([trackerId, subjects]) => ({ trackerId, subjects })),
    others: others.slice(0, mostNamed),
  }
}

/** An item of a report. */
function presentReported({ line, outcome, trackerId, erasure }: ReportedItem) {
  return {
    ...{ line, outcome, trackerId },
    ...(erasure && { ...erasure, erasedAt: formatInstant(erasure.erasedAt) }),
  }
}

export const peopleRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/people',
    access: 'member',
    response: BatchList,
    async handle({ services, context }) {
      const { organisationId } = identityOf(context)
      const batches = await services.erasureBatches.list(organisationId, 'person', mostListed)
      return { batches: batches.map(presentBatch) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/people/preview',
    access: 'member',
    body: { person: personField },
    response: PersonPlan,
    async handle(call) {
      const view = organisationView(call)
      const { subjects, hidden, others } = await call.services.jobs.run(
        view.organisationId,
        () => planPerson(call.services, view, call.body.person),
        call.context.gone,
      )
      const { limit, remaining, resetsAt } = await call.http.erasuresLeft(call.context)
      return {
        ...{ subjects: subjects.map(presentFound), hidden },
        others: { ...others, subjects: others.subjects.map(presentFound) },
        budget: { limit, remaining, resetsAt: formatInstant(resetsAt) },
      }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/people/erase',
    access: 'member',
    body: { person: personField, subjects: typedSubjects },
    response: Batch,
    async handle(call) {
      const { person, subjects } = call.body
      const view = organisationView(call)
      const batch = await startPerson(call.services, view, person, subjects, originOf(call.context))
      call.http.wakeBatches()
      return presentBatch(batch)
    },
  }),
]
