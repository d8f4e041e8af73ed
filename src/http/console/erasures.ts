import { formatInstant } from '../../domain/instant.ts'
import type { NamedRequest } from '../../domain/privacy-request.ts'
import {
  type DescribedEntry,
  erasuresBefore,
  listErasures,
  planErasureList,
} from '../../operations/erasure.ts'
import { listErasureGroups, requestsOf } from '../../operations/group-erasures.ts'
import { certifyEntry, type EntryCertificate, proveReceipt } from '../../operations/receipt.ts'
import { readSought } from '../../operations/search-subjects.ts'
import { Counts } from '../api/fields.ts'
import { entryListParameters } from '../api/ledger.ts'
import { subjectSearchBody } from '../api/search-subjects.ts'
import { identityOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { anyOf, boolean, integer, list, object, oneOf, orNull, text, type ValueOf } from '../schema.ts'
import { AboutRequest, Actor, instant } from './fields.ts'
import { provenEntryParameters } from './ledger.ts'

const CarriedOutBy = orNull(object({ actor: Actor, requestId: orNull(text()) }))

const LedgerErasure = object(
  {
    kind: oneOf(['erasure']),
    index: integer(),
    trackerId: text(),
    erasedAt: instant,
    alreadyErased: boolean(),
    counts: Counts,
    by: CarriedOutBy,
    request: AboutRequest,
  },
  { title: 'LedgerErasure' },
)

/** An entry that nothing was held about a person. */
const NothingHeld = object(
  { kind: oneOf(['nothing-held']), index: integer(), checkedAt: instant, request: AboutRequest },
  { title: 'NothingHeld' },
)

const Entry = anyOf(LedgerErasure, NothingHeld)

const ErasureList = object(
  { erasures: list(Entry), size: integer(), nextCursor: orNull(text()) },
  { title: 'ErasureList' },
)

const ErasureGroup = object(
  {
    newest: Entry,
    by: CarriedOutBy,
    count: integer(),
    /** How many of the entries are erasures of data. */
    erased: integer(),
    counts: Counts,
    trackerIds: list(text()),
    /** The cursor of the list of its erasures. */
    cursor: orNull(text()),
  },
  { title: 'ErasureGroup' },
)

const ErasureGroupList = object(
  { groups: list(ErasureGroup), size: integer(), nextCursor: orNull(text()) },
  { title: 'ErasureGroupList' },
)

/** Everything a page needs to verify a ledger entry. */
export const Certificate = object(
  {
    entry: Entry,
    record: text(),
    proof: list(text()),
    checkpoint: text(),
    verifierKeys: list(text()),
    trackerName: orNull(text()),
    /** The name of the identifier about which nothing was held, if a request asked for it. */
    identifier: orNull(text()),
    scrub: object({ lastAt: instant, reachesEveryByte: boolean() }),
    /** Only for an erasure of a request. */
    receipt: orNull(text()),
  },
  { title: 'Certificate' },
)

/** `null` if the entry is about someone else. */
const ReceiptAgain = object({ receipt: orNull(text()) }, { title: 'ReceiptAgain' })

const receiptBody = {
  ...provenEntryParameters,
  identifier: subjectSearchBody.identifier,
  subjectId: subjectSearchBody.subjectId,
}

export const erasureRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/erasures',
    access: 'viewer',
    query: entryListParameters,
    response: ErasureList,
    plan: ({ query }, problems) => planErasureList(query, problems),
    async handle({ services, context, plan }) {
      const { organisationId } = identityOf(context)
      const found = await listErasures(services, organisationId, plan)
      const requests = await requestsOf(services, organisationId, found.erasures)
      const erasures = found.erasures.map((each) => presentEntry(each, requests.get(each.index) ?? null))
      return { ...found, erasures }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/erasures/groups',
    access: 'viewer',
    query: entryListParameters,
    response: ErasureGroupList,
    plan: ({ query }, problems) => planErasureList(query, problems),
    async handle({ services, context, plan }) {
      const found = await listErasureGroups(services, identityOf(context).organisationId, plan)
      const groups = found.groups.map(({ newest, request, trackerIds, ...group }) => ({
        ...{ ...group, newest: presentEntry(newest, request), trackerIds: [...trackerIds] },
        cursor: erasuresBefore(newest.index + 1),
      }))
      return { ...found, groups }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/erasures/certificate',
    access: 'viewer',
    query: provenEntryParameters,
    response: Certificate,
    async handle({ services, signedIn: { organisation }, query }) {
      return presentCertificate(await certifyEntry(services, organisation, query.index))
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/erasures/receipt',
    access: 'desk',
    body: receiptBody,
    response: ReceiptAgain,
    plan: ({ body }, problems) => readSought(body, problems),
    async handle({ services, context, body, plan }) {
      const { organisationId } = identityOf(context)
      return { receipt: await proveReceipt(services, organisationId, body.index, plan) }
    },
  }),
]

function presentEntry(
  { index, record, by }: DescribedEntry,
  request: NamedRequest | null,
): ValueOf<typeof Entry> {
  if (record.version === 2) {
    return { kind: 'nothing-held', index, checkedAt: formatInstant(record.checkedAt), request }
  }
  const { trackerId, alreadyErased, counts } = record
  const erasedAt = formatInstant(record.erasedAt)
  return { kind: 'erasure', index, trackerId, erasedAt, alreadyErased, counts, by, request }
}

export function presentCertificate({ entry, request, scrub, ...rest }: EntryCertificate) {
  const { lastAt, reachesEveryByte } = scrub
  return {
    ...{ ...rest, entry: presentEntry(entry, request) },
    scrub: { lastAt: formatInstant(lastAt), reachesEveryByte },
  }
}
