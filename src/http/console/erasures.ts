import { type BatchOfEntry, batchKinds } from '../../domain/erasure-batch.ts'
import { formatInstant } from '../../domain/instant.ts'
import {
  type LedgerErasure as ErasureEntry,
  listErasures,
  planErasureList,
} from '../../operations/erasure.ts'
import { certifyErasure, type ErasureCertificate, proveReceipt } from '../../operations/receipt.ts'
import { Counts } from '../api/fields.ts'
import { entryListParameters } from '../api/ledger.ts'
import { identifier } from '../parameters.ts'
import { identityOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { boolean, integer, list, object, oneOf, orNull, text } from '../schema.ts'
import { Actor, instant } from './fields.ts'
import { provenEntryParameters } from './ledger.ts'

const LedgerErasure = object(
  {
    index: integer(),
    trackerId: text(),
    erasedAt: instant,
    alreadyErased: boolean(),
    counts: Counts,
    by: orNull(object({ actor: Actor, requestId: orNull(text()) })),
    /** The batch it was part of. */
    batch: orNull(object({ id: text(), kind: oneOf(batchKinds), subjects: integer() })),
  },
  { title: 'LedgerErasure' },
)

export const ErasureList = object(
  { erasures: list(LedgerErasure), size: integer(), nextCursor: orNull(text()) },
  { title: 'ErasureList' },
)

/** Everything a page needs to verify a ledger entry. */
export const Certificate = object(
  {
    erasure: LedgerErasure,
    record: text(),
    proof: list(text()),
    checkpoint: text(),
    verifierKeys: list(text()),
    trackerName: orNull(text()),
    organisation: text(),
    scrub: object({ lastAt: instant, reachesEveryByte: boolean() }),
    /** Only for an erasure by a batch. */
    receipt: orNull(text()),
  },
  { title: 'Certificate' },
)

/** `null` if the erasure was for another data subject. */
export const ReceiptAgain = object({ receipt: orNull(text()) }, { title: 'ReceiptAgain' })

export const receiptBody = { ...provenEntryParameters, subjectId: text(identifier) }

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
      // Reversed: if an erasure settled items of several batches, the first batch is shown.
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

export function presentLedgerErasure(
  { index, record, by }: ErasureEntry,
  batch: BatchOfEntry['batch'] | null,
) {
  const { trackerId, erasedAt, alreadyErased, counts } = record
  return { index, trackerId, erasedAt: formatInstant(erasedAt), alreadyErased, counts, by, batch }
}

export function presentCertificate(
  { erasure, batch, scrub, ...rest }: ErasureCertificate,
  organisation: string,
) {
  const { lastAt, reachesEveryByte } = scrub
  return {
    ...{ ...rest, erasure: presentLedgerErasure(erasure, batch), organisation },
    scrub: { lastAt: formatInstant(lastAt), reachesEveryByte },
  }
}
