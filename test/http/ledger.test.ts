import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { verifyCheckpoint, verifyConsistency, verifyReceipt } from '@lethe/client'
import { hashLeaf } from '../../src/domain/merkle-tree.ts'
import { dataOf, errorOf, listIn, objectIn, pagesOf, problemFields, textIn } from '../support/answers.ts'
import { rootOf } from '../support/make-receipt.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const rival = await shop.createOrganisation()
const rivalKey = (await shop.createKey(rival, ['analytics:view'])).keyString
const { key } = shop

const ledgerPath = '/v1/analytics/ledger'
const get = async (path: string) => dataOf(await shop.ask(path, { key }))
const erase = async (subjectId: string) =>
  dataOf(await shop.ask(subjectPath(subjectId), { method: 'DELETE', key }))
const keysOf = (ledger: unknown) => listIn(ledger, 'verifierKeys').map(String)

describe('a ledger without entries', () => {
  test('has a head signed with its keys', async () => {
    const ledger = await get(ledgerPath)
    assert.equal(ledger.size, 0)
    assert.equal(ledger.origin, `lethe.local/${encodeURIComponent(shop.organisationId)}`)
    const head = await verifyCheckpoint(textIn(ledger, 'checkpoint'), { verifierKeys: keysOf(ledger) })
    assert.deepEqual([head.origin, head.size, head.rootHash], [ledger.origin, 0, ledger.rootHash])
  })

  test('has no entries, and a consistency proof from size 0 to 0', async () => {
    assert.deepEqual(await get(`${ledgerPath}/entries`), { entries: [], nextCursor: null })
    const { checkpoint, ...proof } = await get(`${ledgerPath}/consistency?from=0`)
    assert.equal(typeof checkpoint, 'string')
    assert.deepEqual(proof, { from: 0, to: 0, proof: [] })
  })

  test('has no receipts of a stored subject', async () => {
    await shop.ingest(visit('never-erased'))
    assert.deepEqual(await get(`${subjectPath('never-erased')}/receipts`), { receipts: [], nextCursor: null })
  })
})

describe('the ledger of an organisation', () => {
  const subjects = Array.from({ length: 11 }, (_, i) => `visitor-${i}`)
  const checkpoints: string[] = []
  const receipts = new Map<string, string>()
  let verifierKeys: string[] = []

  before(async () => {
    verifierKeys = keysOf(await get(ledgerPath))
    await shop.ingest(subjects.flatMap((subjectId) => visit(subjectId, { events: 2 })))
    for (const subjectId of subjects) {
      checkpoints.push(textIn(await get(ledgerPath), 'checkpoint'))
      receipts.set(subjectId, textIn(await erase(subjectId), 'receipt'))
    }
  })

  test('returns a receipt for every erasure, valid for its own subject only', async () => {
    for (const [index, [subjectId, receipt]] of [...receipts].entries()) {
      const verified = await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId })
      assert.equal(verified.index, index)
      assert.deepEqual(verified.record.counts, { sessions: 1, events: 2 })
      const other = { verifierKeys, trackerId: 'shop', subjectId: 'somebody-else' }
      await assert.rejects(verifyReceipt(receipt, other), { reason: 'wrong_subject' })
    }
  })

  test('returns the receipts again, with the current head', async () => {
    const { checkpoint } = await get(ledgerPath)
    for (const subjectId of subjects) {
      const [again, ...others] = listIn(await get(`${subjectPath(subjectId)}/receipts`), 'receipts')
      assert.deepEqual(others, [])
      assert.deepEqual(objectIn(again, 'counts'), { sessions: 1, events: 2 })
      const receipt = textIn(again, 'receipt')
      assert.ok(receipt.endsWith(String(checkpoint)))
      const { record } = await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId })
      assert.equal(record.erasedAt, textIn(again, 'erasedAt'))
    }
  })

  test('lists its entries oldest first, page by page, and their root matches the head', async () => {
    const records: string[] = []
    for await (const page of pagesOf((after) =>
      shop.ask(`${ledgerPath}/entries?${new URLSearchParams({ limit: '4', ...after })}`, { key }),
    )) {
      for (const entry of listIn(page, 'entries')) {
        assert.equal(objectIn({ entry }, 'entry').index, records.length)
        const record = textIn(entry, 'record')
        assert.equal(textIn(entry, 'leafHash'), hashLeaf(record).toString('base64'))
        records.push(record)
      }
    }
    const { size, rootHash } = await get(ledgerPath)
    assert.equal(records.length, size)
    assert.equal(rootOf(records.map((record) => Buffer.from(record))).toString('base64'), rootHash)
  })

  test('does not reveal who was erased', async () => {
    const { entries } = await get(`${ledgerPath}/entries?limit=200`)
    assert.doesNotMatch(JSON.stringify(entries), /visitor-/)
  })

  test('proves consistency with each earlier head, and with no other', async () => {
    for (const [from, older] of checkpoints.entries()) {
      const { to, checkpoint, ...rest } = await get(`${ledgerPath}/consistency?from=${from}`)
      const proof = listIn(rest, 'proof').map(String)
      const claim = { from: older, to: String(checkpoint), proof }
      const verified = await verifyConsistency(claim, { verifierKeys })
      assert.deepEqual([verified.from.size, verified.to.size], [from, to])
      if (from === 0) continue
      const forged = { size: from, rootHash: hashLeaf('another').toString('base64') }
      await assert.rejects(verifyConsistency({ ...claim, from: forged }, { verifierKeys }), {
        reason: 'inconsistent',
      })
    }
  })

  test('rejects invalid sizes for the consistency proof', async () => {
    const { size } = await get(ledgerPath)
    dataOf(await shop.ask(`${ledgerPath}/consistency?from=${size}`, { key }))
    const wrong = [
      `?from=${Number(size) + 1}`,
      '?from=9999999999999999',
      '?from=-1',
      '?from=1.5',
      '?from=',
      '',
    ]
    for (const query of wrong) {
      const answer = await shop.ask(`${ledgerPath}/consistency${query}`, { key })
      assert.deepEqual(problemFields(answer), ['from'], query)
    }
  })

  test('belongs to one organisation: another one has its own ledger under another name', async () => {
    const theirs = dataOf(await shop.ask(ledgerPath, { key: rivalKey }))
    assert.equal(theirs.size, 0)
    const receipt = receipts.get('visitor-0') ?? ''
    await assert.rejects(verifyReceipt(receipt, { verifierKeys: keysOf(theirs) }), { reason: 'unknown_key' })
  })

  test('keeps all receipts of a subject that was erased several times, newest first, page by page', async () => {
    const second = textIn(await erase('visitor-3'), 'erasedAt')
    await erase('visitor-3')
    const path = `${subjectPath('visitor-3')}/receipts?limit=2`
    const page = await get(path)
    const rest = await get(`${path}&cursor=${textIn(page, 'nextCursor')}`)
    assert.equal(rest.nextCursor, null)
    const all = [...listIn(page, 'receipts'), ...listIn(rest, 'receipts')].map((each) =>
      objectIn({ each }, 'each'),
    )
    assert.deepEqual(
      all.map(({ alreadyErased }) => alreadyErased),
      [true, true, false],
    )
    assert.equal(all[1]?.erasedAt, second)
    for (const { receipt, counts } of all) {
      const options = { verifierKeys, trackerId: 'shop', subjectId: 'visitor-3' }
      assert.deepEqual((await verifyReceipt(String(receipt), options)).record.counts, counts)
    }
  })
})

test('returns 404 for the receipts of a tracker that is not visible', async () => {
  errorOf(await shop.ask(`${subjectPath('visitor-0', 'nowhere')}/receipts`, { key }), 'not_found')
  errorOf(await shop.ask(`${subjectPath('visitor-0')}/receipts`, { key: rivalKey }), 'not_found')
})
