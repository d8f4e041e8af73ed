import { formatInstant } from '../../domain/instant.ts'
import { listReceipts, planReceiptList, type Receipt as StoredReceipt } from '../../operations/receipt.ts'
import { defineRoute, trackerView } from '../route.ts'
import { boolean, object } from '../schema.ts'
import { exampleErasureParameters, exampleReceipt } from './examples.ts'
import { Counts, instant, nextCursor, page, pageParameters, receipt } from './fields.ts'
import { subjectPath } from './subjects.ts'

const receiptListParameters = pageParameters

const Receipt = object(
  {
    erasedAt: instant('When the data was erased.'),
    alreadyErased: boolean({ description: 'The data subject had no data at that time.' }),
    counts: Counts,
    receipt,
  },
  { title: 'Receipt', description: 'An erasure of a data subject, with its proof.' },
)

const ReceiptList = object({ receipts: page(Receipt), nextCursor }, { title: 'ReceiptList' })

export const listReceiptsRoute = defineRoute({
  method: 'GET',
  path: `${subjectPath}/receipts`,
  access: 'analytics:view',
  query: receiptListParameters,
  response: ReceiptList,
  documentation: {
    operationId: 'listReceipts',
    summary: "List the receipts of a data subject's erasures",
    description:
      'Newest first, each issued again against the current ledger, as long as the tombstone of the erasure is kept. A data subject that was never erased gives an empty list.',
    exampleParameters: { ...exampleErasureParameters, limit: 2 },
    exampleAlone: { cursor: '0p6_AtaZyidEWzEsInJlY2VpcHQiXQ' },
    example: { receipts: [exampleReceipt], nextCursor: null },
  },
  plan: ({ path, query }, problems) => planReceiptList(path.trackerId, path.subjectId, query, problems),
  async handle(call) {
    const { trackerId, subjectId } = call.path
    const view = trackerView(call, trackerId)
    const { receipts, nextCursor } = await listReceipts(call.services, view, subjectId, call.plan)
    return { receipts: receipts.map(presentReceipt), nextCursor }
  },
})

function presentReceipt({ erasedAt, alreadyErased, counts, receipt }: StoredReceipt) {
  return { erasedAt: formatInstant(erasedAt), alreadyErased, counts, receipt }
}
