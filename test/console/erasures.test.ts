import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { verifyCheckpoint, verifyReceipt } from '@lethe/client'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { eraseAtConsole, openConsole } from '../support/console.ts'
import { emails, recordNothingHeld } from '../support/nothing-held.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')
await shop.ingest([...visit('anna', { events: 3 }), ...visit('ben')])

const certificate = async (index: number) => dataOf(await client.ask(`/erasures/certificate?index=${index}`))
const receiptOf = async (index: number, subjectId: string) =>
  dataOf(await client.ask('/erasures/receipt', { method: 'POST', body: { index, subjectId } })).receipt

describe('erasures', () => {
  test('are listed newest first, with author and method', async () => {
    await eraseAtConsole(shop, client, 'anna')
    await shop.ask(subjectPath('ben'), { key: shop.key, method: 'DELETE' })
    await shop.ask(subjectPath('nobody'), { key: shop.key, method: 'DELETE' })
    const page = dataOf(await client.ask('/erasures'))
    assert.equal(page.size, 3)
    const told = listIn(page, 'erasures').map((erasure) => {
      const { index, alreadyErased, counts, by } = objectIn({ erasure }, 'erasure')
      return [index, alreadyErased, counts, textIn(objectIn(by, 'actor'), 'kind')]
    })
    assert.deepEqual(told, [
      [2, true, { sessions: 0, events: 0 }, 'key'],
      [1, false, { sessions: 1, events: 1 }, 'key'],
      [0, false, { sessions: 1, events: 3 }, 'member'],
    ])
  })

  test('are listed page by page, each once', async () => {
    const first = dataOf(await client.ask('/erasures?limit=2'))
    const second = dataOf(await client.ask(`/erasures?limit=2&cursor=${textIn(first, 'nextCursor')}`))
    const indexes = [first, second].flatMap((page) =>
      listIn(page, 'erasures').map((erasure) => objectIn({ erasure }, 'erasure').index),
    )
    assert.deepEqual(indexes, [2, 1, 0])
    assert.equal(second.nextCursor, null)
    assert.deepEqual(problemFields(await client.ask('/erasures?cursor=x')), ['cursor'])
  })

  test('cost the same per page, even if many have the same second', async (t) => {
    const other = await startShop(t, { scopes: ['analytics:view', 'analytics:delete-data'] })
    const member = await openConsole(other, other.organisationId)
    await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        eraseSubject(other.services, { ...other, trackerId: 'shop', since: 0 }, `nobody-${i}`, {
          actor: { kind: 'key', id: other.keyId, name: 'key' },
          ...{ requestId: null, organisationId: other.organisationId },
        }),
      ),
    )
    const { activity } = other.services
    const { list } = activity
    let rows = 0
    t.mock.method(activity, 'list', async (...args: Parameters<typeof list>) => {
      const page = await list.apply(activity, args)
      rows += page.rows.length
      return page
    })
    const page = listIn(dataOf(await member.ask('/erasures?limit=200')), 'erasures')
    for (const erasure of page) assert.notEqual(objectIn({ erasure }, 'erasure').by, null)
    assert.ok(page.length === 200 && rows <= 400, `${rows} entries were read`)
    rows = 0
    assert.notEqual(objectIn(dataOf(await member.ask('/erasures/certificate?index=0')), 'entry').by, null)
    assert.ok(rows <= 400, `${rows} entries were read`)
  })

  test('have a verifiable certificate that does not identify the person', async () => {
    const found = await certificate(0)
    const { size } = await verifyCheckpoint(textIn(found, 'checkpoint'), {
      verifierKeys: listIn(found, 'verifierKeys').map(String),
    })
    assert.equal(size, 3)
    const { by, trackerId } = objectIn(found, 'entry')
    assert.equal(textIn(objectIn(by, 'actor'), 'name'), 'ada@acme.example')
    assert.deepEqual([trackerId, found.trackerName], ['shop', 'shop'])
    assert.doesNotMatch(JSON.stringify(found), /anna|nonce/)
    errorOf(await client.ask('/erasures/certificate?index=3'), 'not_found')
    const stranger = await openConsole(shop, await shop.createOrganisation())
    errorOf(await stranger.ask('/erasures/certificate?index=0'), 'not_found')
    const theirs = { method: 'POST', body: { index: 0, subjectId: 'anna' } }
    errorOf(await stranger.ask('/erasures/receipt', theirs), 'not_found')
  })

  test('reissue a receipt only to someone who knows the data subject', async () => {
    const verifierKeys = listIn(await certificate(0), 'verifierKeys').map(String)
    const receipt = String(await receiptOf(0, 'anna'))
    const verified = await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId: 'anna' })
    assert.deepEqual([verified.index, verified.record.counts.events], [0, 3])
    for (const other of ['ben', 'Anna', 'nobody']) assert.equal(await receiptOf(0, other), null)
  })
})

describe('a no-data entry', () => {
  test('is listed, certified and reissued to members who know the identifier', async (t) => {
    const own = await startShop(t, { scopes: ['analytics:view'] })
    const browser = await openConsole(own, own.organisationId)
    const receiptFor = async (body: object) =>
      dataOf(await browser.ask('/erasures/receipt', { method: 'POST', body: { index: 0, ...body } })).receipt
    const [proven] = await recordNothingHeld(own.services, own.organisationId, emails('ada@example.com'))
    assert.ok(proven)
    const checkedAt = new Date(proven.checkedAt).toISOString()
    const row = { kind: 'nothing-held', index: 0, checkedAt, request: null }
    assert.deepEqual(listIn(dataOf(await browser.ask('/erasures')), 'erasures'), [row])
    const found = dataOf(await browser.ask('/erasures/certificate?index=0'))
    assert.partialDeepStrictEqual(found, { entry: row, trackerName: null, receipt: null })
    assert.equal(dataOf(await browser.ask('/ledger')).lastEntryAt, checkedAt)
    const verified = dataOf(await browser.ask('/ledger/verify', { method: 'POST', body: {} }))
    assert.deepEqual([verified.size, verified.problem], [1, null])
    const identifier = { name: 'email', value: 'Ada@Example.com' }
    const verifierKeys = listIn(found, 'verifierKeys').map(String)
    const receipt = String(await receiptFor({ identifier }))
    assert.ok((await verifyReceipt(receipt, { verifierKeys, identifier })).isSubjectProven)
    assert.equal(await receiptFor({ identifier: { name: 'email', value: 'eva@example.com' } }), null)
    assert.equal(await receiptFor({ subjectId: 'ada@example.com' }), null)
    const both = { index: 0, identifier, subjectId: 'ada' }
    for (const body of [{ index: 0 }, both]) {
      const refused = await browser.ask('/erasures/receipt', { method: 'POST', body })
      errorOf(refused, 'validation_error')
    }
    const [entry] = listIn(dataOf(await own.ask('/v1/analytics/ledger/entries', { key: own.key })), 'entries')
    assert.equal(textIn(entry, 'record'), textIn(found, 'record'))
  })
})

describe('the erasures of a member', () => {
  test('as a list have a pace but no budget: one session can erase everyone', async (t) => {
    const own = await startShop(t, {
      scopes: ['analytics:view'],
      env: { LETHE_LIMIT_ERASURE: '1/hour', LETHE_BATCH_PACE: '1000/second' },
    })
    const browser = await openConsole(own, own.organisationId)
    const ids = Array.from({ length: 5 }, (_, n) => `visitor-${n}`)
    await own.ingest(ids.flatMap((id) => visit(id)))
    const list = { text: ids.join('\n'), format: 'lines', by: 'subjectId', trackerIds: [], reference: 'All' }
    dataOf(await browser.ask('/erasure-lists', { method: 'POST', body: { ...list, subjects: 5 } }))
    const { requestGroups } = own.services
    await until(async () => (await requestGroups.find(own.organisationId, 'All'))?.counts.done === 5)
    assert.equal(dataOf(await browser.ask('/ledger')).size, 5)
    const entries = listIn(dataOf(await browser.ask('/activity?kind=subject.erased')), 'entries')
    assert.equal(entries.length, 5)
  })
})
