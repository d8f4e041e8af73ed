import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { verifyCheckpoint, verifyReceipt } from '@lethe/client'
import { dataOf, errorOf, isObject, listIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { inclusionProof, rootOf } from '../support/make-receipt.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const { organisationId, key } = shop
const client = await openConsole(shop, organisationId)
await shop.ingest(visit('anna'))
const { verifierKeys } = await readLedger()

async function readLedger() {
  const ledger = dataOf(await shop.ask('/v1/analytics/ledger', { key }))
  return { verifierKeys: listIn(ledger, 'verifierKeys').map(String) }
}

const erase = async (subjectId: string) =>
  textIn(dataOf(await shop.ask(subjectPath(subjectId), { key, method: 'DELETE' })), 'receipt')

describe('an erasure in the activity', () => {
  test('leads to its entry in the ledger, with what proves it, and not to who was erased', async () => {
    const receipts = [await erase('anna'), await erase('anna'), await erase('ben')]
    const listed = listIn(dataOf(await client.ask('/activity?limit=3')), 'entries').filter(isObject)
    const indexes = listed.map(({ ledgerIndex }) => Number(ledgerIndex)).reverse()
    assert.deepEqual(indexes, [0, 1, 2])
    const proven = await Promise.all(
      indexes.map(async (index) => dataOf(await client.ask(`/ledger/entry?index=${index}`))),
    )
    const leaves = proven.map((entry) => Buffer.from(textIn(entry, 'record')))
    for (const [index, entry] of proven.entries()) {
      const { record } = await verifyReceipt(receipts[index] ?? '', { verifierKeys })
      assert.deepEqual(JSON.parse(textIn(entry, 'record')), record)
      const { size, rootHash } = await verifyCheckpoint(textIn(entry, 'checkpoint'), { verifierKeys })
      assert.deepEqual([size, rootHash], [3, rootOf(leaves).toString('base64')])
      const proof = inclusionProof(index, leaves).map((hash) => hash.toString('base64'))
      assert.deepEqual(listIn(entry, 'proof'), proof)
      assert.doesNotMatch(JSON.stringify(entry), /anna|ben|nonce/)
    }
  })

  test('leads nowhere beyond the end of the ledger, nor for a member of somebody else', async () => {
    errorOf(await client.ask('/ledger/entry?index=3'), 'not_found')
    errorOf(await client.ask('/ledger/entry?index=9007199254740991'), 'not_found')
    const stranger = await openConsole(shop, await shop.createOrganisation())
    errorOf(await stranger.ask('/ledger/entry?index=0'), 'not_found')
  })

  test('is asked for by a whole number, once', async () => {
    for (const query of [
      '',
      '?index=',
      '?index=-1',
      '?index=1.5',
      '?index=x',
      '?index=99999999999999999999',
    ]) {
      assert.deepEqual(problemFields(await client.ask(`/ledger/entry${query}`)), ['index'], query)
    }
  })
})
