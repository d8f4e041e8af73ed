import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { verifyCheckpoint, verifyReceipt } from '@lethe/client'
import { dataOf, errorOf, isObject, listIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole, rawPost } from '../support/console.ts'
import { inclusionProof, rootOf } from '../support/make-receipt.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

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
  test('links to its ledger entry with the proof, and does not identify the person', async () => {
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

  test('does not link beyond the end of the ledger, nor for other organisations', async () => {
    errorOf(await client.ask('/ledger/entry?index=3'), 'not_found')
    errorOf(await client.ask('/ledger/entry?index=9007199254740991'), 'not_found')
    const stranger = await openConsole(shop, await shop.createOrganisation())
    errorOf(await stranger.ask('/ledger/entry?index=0'), 'not_found')
  })

  test('accepts one integer as its index', async () => {
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

describe('verifying a ledger', () => {
  const verify = (browser = client) => browser.ask('/ledger/verify', { method: 'POST', body: {} })

  test('runs one at a time per organisation, without blocking others', async (t) => {
    const other = await openConsole(shop, await shop.createOrganisation())
    const { ledger } = shop.services
    const { list } = ledger
    const released = Promise.withResolvers<void>()
    let reads = 0
    t.mock.method(ledger, 'list', async (...args: Parameters<typeof list>) => {
      if (args[0] === organisationId) {
        reads += 1
        await released.promise
      }
      return list.apply(ledger, args)
    })
    const asked = Array.from({ length: 60 }, () => verify())
    await until(() => reads > 0)
    assert.equal(dataOf(await verify(other)).problem, null)
    assert.equal(reads, 1)
    released.resolve()
    for (const answer of await Promise.all(asked)) assert.equal(dataOf(answer).problem, null)
    assert.equal(reads, 60)
  })

  test('stops when the client disconnects', async (t) => {
    const { ledger } = shop.services
    const { list } = ledger
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    let reads = 0
    t.mock.method(ledger, 'list', async (...[id, , limit]: Parameters<typeof list>) => {
      reads += 1
      reached.resolve()
      await released.promise
      // As many as requested, so that more may follow.
      const [entry] = await list.apply(ledger, [id, 0, 1])
      return Array.from({ length: limit }, () => entry ?? assert.fail())
    })
    const requestId = 'gone-while-verifying'
    const request = await rawPost(shop, client, '/ledger/verify', {}, { requestId })
    await reached.promise
    const waiting = verify()
    request.hangUp()
    const lines = () => shop.logged.filter((line) => line.includes(requestId))
    await until(() => lines().length > 0)
    t.mock.method(ledger, 'list', async (...args: Parameters<typeof list>) => {
      reads += 1
      return list.apply(ledger, args)
    })
    released.resolve()
    assert.equal(dataOf(await waiting).problem, null)
    assert.equal(reads, 2)
    assert.equal(lines().length, 1)
  })
})
