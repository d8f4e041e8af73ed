import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { verifyConsistency, verifyReceipt } from '@lethe/client'
import { clientOf } from '../support/client.ts'
import { startShop, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const client = clientOf(shop)
await shop.ingest(['anna', 'berta', 'clara'].flatMap((subjectId) => visit(subjectId)))

describe('the client of an erasure ledger', () => {
  it('returns the receipt of an erasure, and again later', async () => {
    const { verifierKeys } = await client.readLedger()
    const options = { verifierKeys, trackerId: 'shop', subjectId: 'anna' }
    const { receipt, erasedAt } = await client.eraseSubject('shop', 'anna')
    await client.eraseSubject('shop', 'berta')
    const again = []
    for await (const each of client.listReceipts('shop', 'anna', { limit: 1 })) again.push(each)
    assert.deepEqual(
      again.map((each) => each.erasedAt),
      [erasedAt],
    )
    for (const text of [receipt, again[0]?.receipt ?? '']) {
      assert.equal((await verifyReceipt(text, options)).record.erasedAt, erasedAt)
    }
  })

  it('lists all entries across pages', async () => {
    const indexes = []
    for await (const { index } of client.listLedgerEntries({ limit: 1 })) indexes.push(index)
    const { size } = await client.readLedger()
    assert.deepEqual(
      indexes,
      Array.from({ length: size }, (_, index) => index),
    )
  })

  it('proves that the ledger has only grown since a checkpoint', async () => {
    const older = await client.readLedger()
    await client.eraseSubject('shop', 'clara')
    const { proof, checkpoint, to } = await client.proveConsistency(older.size)
    const claim = { from: older.checkpoint, to: checkpoint, proof }
    const verified = await verifyConsistency(claim, { verifierKeys: older.verifierKeys })
    assert.deepEqual([verified.from.size, verified.to.size], [older.size, to])
    await assert.rejects(client.proveConsistency(to + 1), { code: 'validation_error' })
  })
})
