import { formatInstant } from '../../../domain/instant.ts'
import { describeErasure, listErasures, planErasureList } from '../../../operations/ledger/list-erasures.ts'
import { proveEntry } from '../../../operations/ledger/prove-entry.ts'
import { proveReceipt } from '../../../operations/ledger/prove-receipt.ts'
import { readLedger } from '../../../operations/ledger/read-ledger.ts'
import { entryListParameters } from '../../api/schemas/parameters.ts'
import { identityOf } from '../../request-context.ts'
import { defineRoute } from '../../route.ts'
import { presentLedgerErasure } from '../present.ts'
import { Certificate, ErasureList, ReceiptAgain } from '../resources.ts'
import { provenEntryParameters, receiptBody } from '../schemas.ts'

export const erasureRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/erasures',
    access: 'member',
    query: entryListParameters,
    response: ErasureList,
    plan: ({ query }, problems) => planErasureList(query, problems),
    async handle({ services, context, plan }) {
      const found = await listErasures(services, identityOf(context).organisationId, plan)
      return { ...found, erasures: found.erasures.map(presentLedgerErasure) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/erasures/certificate',
    access: 'member',
    query: provenEntryParameters,
    response: Certificate,
    async handle({ services, signedIn: { organisation }, query }) {
      const entry = await proveEntry(services, organisation.id, query.index)
      const { record, proof, checkpoint } = entry
      const erasure = await describeErasure(services, organisation.id, entry)
      const { verifierKeys } = await readLedger(services, organisation.id)
      const tracker = await services.trackers.find(erasure.record.trackerId)
      const { lastAt } = await services.maintenance.scrubState()
      const reachesEveryByte = services.maintenance.scrubsEveryByte
      return {
        ...{ erasure: presentLedgerErasure(erasure), record, proof, checkpoint, verifierKeys },
        trackerName: tracker?.organisationId === organisation.id ? tracker.name : null,
        ...{ organisation: organisation.name, scrub: { lastAt: formatInstant(lastAt), reachesEveryByte } },
      }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/erasures/receipt',
    access: 'member',
    body: receiptBody,
    response: ReceiptAgain,
    async handle({ services, context, body }) {
      return { receipt: await proveReceipt(services, identityOf(context).organisationId, body) }
    },
  }),
]
