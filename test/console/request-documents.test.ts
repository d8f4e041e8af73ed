import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { finishDeletions } from '../../src/maintenance/maintenance.ts'
import { dataOf, isObject, listIn, objectIn, textIn } from '../support/answers.ts'
import { type ConsoleClient, eraseAtConsole, openConsole, signInAgain } from '../support/console.ts'
import { ofEmail, requestDesk } from '../support/console-requests.ts'
import { emptyStore } from '../support/empty-store.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { hideByPlan } from '../support/windows.ts'
import { readZip } from '../support/zip.ts'

const env = { LETHE_BATCH_PACE: '1000000/second' }
const shop = await startShop({ after }, { scopes: ['analytics:view'], env })
const client = await openConsole(shop, shop.organisationId)
const desk = requestDesk(client)

/** Starts an erasure and waits until it is done. */
async function erase(id: string, subjects: number): Promise<void> {
  dataOf(await desk.change(id, 'erase', { subjects }))
  await until(async () => (await desk.request(id)).state === 'done')
}

const certificateOf = async (id: string, query = '') =>
  dataOf(await client.ask(`/requests/${id}/certificate${query}`))
const replyOf = async (id: string, { ask } = client) => {
  const { suggested, replies } = dataOf(await ask(`/requests/${id}/reply`))
  return { suggested, text: textIn(listIn({ replies }, 'replies').at(-1), 'text') }
}
const isStored = async (subjectId: string) =>
  (await shop.ask(subjectPath(subjectId), { key: shop.key })).status === 200

function download({ cookie }: ConsoleClient, id: string, { url } = shop): Promise<Response> {
  return fetch(`${url}/console/api/requests/${id}/export`, { headers: { cookie: String(cookie) } })
}

describe('an erasure of a member', () => {
  test('erases all records except excluded ones, once, and is certified and answered', async () => {
    const email = 'ada@example.com'
    await shop.ingest(['ada-1', 'ada-2', 'other'].flatMap((id) => visit(id, { identifiers: { email } })))
    const id = await desk.open('erasure', ofEmail(email), { reference: 'DSR-1' })
    dataOf(await desk.change(id, 'notes', { text: `She wrote from ${email}` }))
    const other = { trackerId: 'shop', subjectId: 'other' }
    dataOf(await desk.change(id, 'exclude', { ...other, reason: 'Shared device' }))
    await erase(id, 2)
    assert.deepEqual(await Promise.all(['ada-1', 'ada-2', 'other'].map(isStored)), [false, false, true])
    const certificate = await certificateOf(id)
    assert.partialDeepStrictEqual(certificate, {
      request: { requestId: id, state: 'done', reference: 'DSR-1', erased: { subjects: 2 }, person: null },
      ...{ waiting: 0, gone: 0, stopped: 0, excluded: 1, nextPlace: null },
    })
    const certificates = listIn(certificate, 'certificates').filter(isObject)
    assert.equal(certificates.length, 2)
    for (const { receipt, verifierKeys, entry } of certificates) {
      await verifyReceipt(String(receipt), {
        verifierKeys: listIn({ verifierKeys }, 'verifierKeys').map(String),
      })
      assert.equal(isObject(entry) && entry.kind, 'erasure')
    }
    const { suggested, text } = await replyOf(id)
    assert.equal(suggested, 'erasure.erased')
    assert.match(text, new RegExp(`Records about you: 2.*${shop.url}/verify.*DSR-1`, 's'))
    const page = await desk.page(id)
    assert.deepEqual(page.notes, [])
    // A UUID may contain “ada”.
    assert.doesNotMatch(JSON.stringify(page), /ada-[12]\b|ada@|"other"/)
    const story = ['created', 'note-added', 'record-excluded', 'started', 'finished']
    assert.deepEqual(await desk.story(id), story)
  })

  test('does not certify that no data is held if records were excluded', async () => {
    await shop.ingest(visit('hers', { identifiers: { email: 'eve@example.com' } }))
    const id = await desk.open('erasure', ofEmail('eve@example.com'))
    const record = { trackerId: 'shop', subjectId: 'hers' }
    dataOf(await desk.change(id, 'exclude', { ...record, reason: 'Somebody else' }))
    await erase(id, 0)
    assert.partialDeepStrictEqual(await certificateOf(id), { certificates: [], excluded: 1 })
    assert.equal(await isStored('hers'), true)
    const { suggested, text } = await replyOf(id)
    assert.equal(suggested, 'erasure.nothing-held')
    assert.match(text, /found no personal data about you/)
    assert.doesNotMatch(text, /certificate|receipt|verify/)
    assert.equal((await desk.page(id)).isProven, false)
  })

  test('says so if what it found was deleted with its tracker meanwhile', async () => {
    const slow = await startShop(
      { after },
      { env: { LETHE_BATCH_PACE: '1/day' }, scopes: ['analytics:view'] },
    )
    const slowClient = await openConsole(slow, slow.organisationId)
    const slowDesk = requestDesk(slowClient)
    const identifiers = { email: 'ida@example.com' }
    await slow.ingest([...visit('first'), ...['ida-1', 'ida-2'].flatMap((id) => visit(id, { identifiers }))])
    await eraseAtConsole(slow, slowClient, 'first')
    const id = await slowDesk.open('erasure', ofEmail('ida@example.com'))
    dataOf(await slowDesk.change(id, 'erase', { subjects: 2 }))
    dataOf(await slowClient.ask('/trackers/shop/delete', { method: 'POST', body: { name: 'shop' } }))
    await finishDeletions(slow.services)
    slow.passTime(86_400_000)
    await signInAgain(slow, slowClient)
    // Starting another request wakes the service.
    const other = await slowDesk.open('erasure', ofEmail('nobody@example.com'))
    dataOf(await slowDesk.change(other, 'erase', { subjects: 0 }))
    await until(async () => (await slowDesk.request(id)).state === 'done')
    assert.partialDeepStrictEqual(await slowDesk.request(id), {
      found: { subjects: 2 },
      erased: { subjects: 0 },
    })
    const { suggested, text } = await replyOf(id, slowClient)
    assert.equal(suggested, 'erasure.already-deleted')
    assert.match(text, /found data about you\. It has since been deleted/)
  })

  test('certifies that no data is held about an unknown person', async () => {
    const id = await desk.open('erasure', ofEmail('nobody@example.com'))
    await erase(id, 0)
    const [certificate] = listIn(await certificateOf(id), 'certificates')
    const { kind, index } = objectIn(certificate, 'entry')
    assert.equal(kind, 'nothing-held')
    const ofEntry = dataOf(await client.ask(`/erasures/certificate?index=${index}`))
    for (const each of [certificate, ofEntry]) assert.partialDeepStrictEqual(each, { identifier: 'email' })
    const { suggested, text } = await replyOf(id)
    assert.equal(suggested, 'erasure.nothing-held')
    assert.match(text, new RegExp(`The attached certificate .*${shop.url}/verify`))
    assert.equal((await desk.page(id)).isProven, true)
  })

  test('is certified page by page', async () => {
    const email = 'many@example.com'
    await shop.ingest(
      Array.from({ length: 60 }, (_, i) => visit(`many-${i}`, { identifiers: { email } })).flat(),
    )
    const id = await desk.open('erasure', ofEmail(email))
    await erase(id, 60)
    const first = await certificateOf(id)
    const second = await certificateOf(id, `?after=${String(first.nextPlace)}`)
    assert.deepEqual(
      [first, second].map((page) => listIn(page, 'certificates').length),
      [50, 10],
    )
    assert.equal(second.nextPlace, null)
  })

  test('starts once if several members start it concurrently', async () => {
    await shop.ingest(visit('gus', { identifiers: { email: 'gus@example.com' } }))
    const id = await desk.open('erasure', ofEmail('gus@example.com'))
    await Promise.all(Array.from({ length: 5 }, () => desk.change(id, 'erase', { subjects: 1 })))
    await until(async () => (await desk.request(id)).state === 'done')
    assert.deepEqual(await desk.story(id), ['created', 'started', 'finished'])
    assert.equal(listIn(await certificateOf(id), 'certificates').length, 1)
  })
})

describe('the export of a member', () => {
  test('is a ZIP of the records of the request, without excluded ones, and suggests the reply', async () => {
    const email = 'hal@example.com'
    await shop.ingest(['hal-mine', 'hal-other'].flatMap((id) => visit(id, { identifiers: { email } })))
    const id = await desk.open('access', ofEmail(email))
    const other = { trackerId: 'shop', subjectId: 'hal-other' }
    dataOf(await desk.change(id, 'exclude', { ...other, reason: 'Shared device' }))
    const answer = await download(client, id)
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type'), answer.headers.get('content-disposition')],
      [200, 'application/zip', `attachment; filename="request-${id}.zip"`],
    )
    const files = readZip(Buffer.from(await answer.arrayBuffer()))
    const texts = files.map(({ text }) => text).join('\n')
    assert.deepEqual([texts.includes('hal-mine'), texts.includes('hal-other')], [true, false])
    assert.equal((await replyOf(id)).suggested, 'access.copy-ready')
    assert.deepEqual(await desk.story(id), ['created', 'record-excluded', 'exported'])
    dataOf(await desk.change(id, 'close'))
    assert.equal((await download(client, id)).status, 422)
    assert.equal((await replyOf(id)).suggested, 'access.copy-ready')
  })

  test('has as many records as its reply says, even if a shorter plan hides others', async (t) => {
    const own = await startShop(t, { scopes: ['analytics:view'] })
    const member = await openConsole(own, own.organisationId)
    const theirs = requestDesk(member)
    const identifiers = { email: 'jo@example.com' }
    const startedAt = Date.now() - 300 * 86_400_000
    await own.ingest([
      ...visit('jo', { identifiers }),
      ...visit('jo-then', { startedAt, identifiers }),
      ...visit('kai-then', { startedAt, identifiers: { email: 'kai@example.com' } }),
    ])
    await hideByPlan(own)
    const counted = (count: number) =>
      new RegExp(`Records about you: ${count}\\n- Visits: ${count}\\n- Recorded events: ${count}\\n`)
    for (const [name, count] of [
      ['jo', 1],
      ['kai', 0],
    ] as const) {
      const id = await theirs.open('access', ofEmail(`${name}@example.com`))
      const files = readZip(Buffer.from(await (await download(member, id, own)).arrayBuffer()))
      const records = files.filter((file) => file.name.startsWith('records/'))
      assert.equal(records.length, count)
      assert.match((await replyOf(id, member)).text, counted(count))
      dataOf(await theirs.change(id, 'close'))
      assert.match((await replyOf(id, member)).text, counted(count))
    }
  })

  test('comes with a certificate of the identifiers without data', async () => {
    await shop.ingest(visit('ida', { identifiers: { email: 'ida@example.com' } }))
    const emails = (...values: string[]) => ({
      identifiers: values.map((value) => ({ name: 'email', value })),
    })
    const both = await desk.open('access', emails('ida@example.com', 'ida@example.org'))
    const held = await desk.open('access', emails('ida@example.com'))
    assert.equal((await desk.page(both)).isProven, false)
    for (const id of [both, held]) dataOf(await desk.change(id, 'close'))
    assert.deepEqual([(await desk.page(both)).isProven, (await desk.page(held)).isProven], [true, false])
    assert.equal(listIn(await certificateOf(both), 'certificates').length, 1)
  })

  test('is available to members of the organisation only', async () => {
    const id = await desk.open('access', ofEmail('hal@example.com'))
    const stranger = await openConsole(shop, await shop.createOrganisation())
    assert.equal((await download(stranger, id)).status, 404)
    assert.equal((await download({ ...stranger, cookie: null }, id)).status, 401)
  })
})

describe('a closed request', () => {
  test('leaves nothing of the person, notes or excluded records in the store’s files', async (t) => {
    const store = await emptyStore(t)
    const own = await startShop(t, { scopes: ['analytics:view'], env: { ...env, LETHE_STORE: store } })
    const member = await openConsole(own, own.organisationId)
    const theirs = requestDesk(member)
    const email = 'marker-1@example.com'
    await own.ingest(['marker-mine', 'marker-other'].flatMap((id) => visit(id, { identifiers: { email } })))
    const endings = {
      reject: (id: string) => theirs.change(id, 'reject', { reason: 'Not identified' }),
      cancel: (id: string) => theirs.change(id, 'cancel'),
      erase: (id: string) => theirs.change(id, 'erase', { subjects: 1 }),
    }
    for (const end of Object.values(endings)) {
      const id = await theirs.open('erasure', ofEmail(email))
      dataOf(await theirs.change(id, 'notes', { text: 'marker-note: she called' }))
      const other = { trackerId: 'shop', subjectId: 'marker-other' }
      dataOf(await theirs.change(id, 'exclude', { ...other, reason: 'Shared device' }))
      dataOf(await end(id))
      await until(async () => (await theirs.request(id)).closedAt !== null)
    }
    // An excluded record is erased for another person.
    const id = await theirs.open('erasure', { subjects: [{ trackerId: 'shop', subjectId: 'marker-other' }] })
    dataOf(await theirs.change(id, 'erase', { subjects: 1 }))
    await until(async () => (await theirs.request(id)).closedAt !== null)
    for (const each of await theirs.list('?state=all'))
      assert.doesNotMatch(JSON.stringify(await theirs.page(each)), /marker/)
    await own.services.maintenance.scrub(own.services.clock())
    await own.stop()
    if (!store.startsWith('sqlite:')) return
    const path = store.slice('sqlite:'.length)
    for (const file of [path, `${path}-wal`].filter(existsSync))
      assert.equal(readFileSync(file).includes('marker'), false, file)
  })
})
