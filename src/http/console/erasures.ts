import { listErasures, planErasureList } from '../../operations/erasure.ts'
import { certifyErasure, proveReceipt } from '../../operations/receipt.ts'
import { entryListParameters } from '../api/fields.ts'
import { identityOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import {
  Certificate,
  ErasureList,
  presentCertificate,
  presentLedgerErasure,
  provenEntryParameters,
  ReceiptAgain,
  receiptBody,
} from './fields.ts'

export const erasureRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/erasures',
    access: 'member',
    query: entryListParameters,
    response: ErasureList,
    plan: ({ query }, problems) => planErasureList(query, problems),
    async handle({ services, context, plan }) {
      const { organisationId } = identityOf(context)
      const found = await listErasures(services, organisationId, plan)
      const indexes = found.erasures.map(({ index }) => index)
      // Where an erasure settled several batches, the last one wins; the first is the one to show.
      const batches = new Map(
        (await services.erasureBatches.ofEntries(organisationId, indexes))
          .reverse()
          .map(({ ledgerIndex, batch }) => [ledgerIndex, batch]),
      )
      const erasures = found.erasures.map((each) =>
        presentLedgerErasure(each, batches.get(each.index) ?? null),
      )
      return { ...found, erasures }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/erasures/certificate',
    access: 'member',
    query: provenEntryParameters,
    response: Certificate,
    async handle({ services, signedIn: { organisation }, query }) {
      return presentCertificate(await certifyErasure(services, organisation, query.index), organisation.name)
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
