import { setImmediate as nextTurn } from 'node:timers/promises'
import { type BatchVerb, changeBatch, requireBatch } from '../../../operations/erasure-batch/change-batch.ts'
import { planBatch } from '../../../operations/erasure-batch/plan-batch.ts'
import { certifyBatch, reportBatch } from '../../../operations/erasure-batch/report-batch.ts'
import { startBatch } from '../../../operations/erasure-batch/start-batch.ts'
import { identityOf, originOf } from '../../request-context.ts'
import { defineRoute, organisationView } from '../../route.ts'
import { presentCertificate } from '../present.ts'
import { presentBatch, presentPlan, presentReported } from '../present-batch.ts'
import { Batch, BatchCertificate, BatchList, BatchPlan } from '../resources.ts'
import { batchFields, certificateAfter, maxListBytes, typedSubjects } from '../schemas.ts'

/** So many of an organisation's batches are shown, the newest. */
export const mostListed = 100

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
