import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { dataOf, isObject, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { askToErase, type ConsoleClient, type ErasedPerson, openConsole } from '../support/console.ts'
import { emptyStore } from '../support/empty-store.ts'
import { startTestService } from '../support/service.ts'
import { type Shop, startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const hourMs = 3_600_000
const scopes = ['analytics:view', 'analytics:delete-data'] as const

/** A shop with two trackers and a member with an hourly erasure budget. */
async function open(limit = 60): Promise<{ shop: Shop; client: ConsoleClient }> {
  const env = { LETHE_BATCH_PACE: '1000000/second', LETHE_LIMIT_ERASURE: `${limit}/hour` }
  const shop = await startShop({ after }, { env, scopes })
  await shop.createTracker(shop.organisationId, `${shop.organisationId}-blog`)
  return { shop, client: await openConsole(shop, shop.organisationId) }
}

const { shop, client } = await open()
const blog = `${shop.organisationId}-blog`

function preview(person: ErasedPerson, browser = client) {
  const body = { person: { identifiers: [], subjects: [], ...person } }
  return browser.ask('/people/preview', { method: 'POST', body })
}

function ofEmail(value: string): ErasedPerson {
  return { identifiers: [{ name: 'email', value }] }
}

/** Starts the erasure of a person, and returns its batch. */
async function begin(browser: ConsoleClient, person: ErasedPerson, expected: number): Promise<string> {
  return textIn(dataOf(await askToErase(browser, person, expected)), 'id')
}

async function certificate(browser: ConsoleClient, id: string) {
  const found = dataOf(await browser.ask(`/batches/${id}/certificate`))
  const { waiting, gone, stopped, nextPlace } = found
  return {
    ...{ waiting, gone, stopped, nextPlace },
    batch: objectIn(found, 'batch'),
    certificates: listIn(found, 'certificates').filter(isObject),
  }
}

/** Waits until a batch meets a condition. */
async function untilBatch(
  { services, organisationId }: Pick<Shop, 'services' | 'organisationId'>,
  id: string,
  isSo: (batch: NonNullable<Awaited<ReturnType<typeof services.erasureBatches.find>>>) => boolean,
): Promise<void> {
  await until(async () => {
    const batch = await services.erasureBatches.find(organisationId, id)
    return batch !== null && isSo(batch)
  })
}

const isDone = ({ state }: { state: string }) => state === 'done'

async function isStored(subjectId: string, trackerId = 'shop', at = shop): Promise<boolean> {
  return (await at.ask(subjectPath(subjectId, trackerId), { key: at.key })).status === 200
}

describe('the preview of a person’s erasure', () => {
  test('lists every data subject on every tracker and the remaining budget, and erases nobody', async () => {
    await shop.ingest([
      ...visit('ada-1', { events: 3, identifiers: { email: 'ada@example.com', userId: '42' } }),
      ...visit('ada-2', { trackerId: blog, identifiers: { email: 'Ada@Example.com' } }),
      ...visit('ben', { identifiers: { email: 'ben@example.com' } }),
    ])
    const plan = dataOf(await preview(ofEmail('ADA@example.com')))
    assert.deepEqual(
      listIn(plan, 'subjects')
        .map((each) => [textIn(each, 'trackerId'), textIn(each, 'subjectId')])
        .sort(),
      [
        [blog, 'ada-2'],
        ['shop', 'ada-1'],
      ].sort(),
    )
    assert.deepEqual([plan.hidden, objectIn(plan, 'others').subjects], [[], []])
    assert.partialDeepStrictEqual(plan.budget, { limit: 60, remaining: 60 })
    assert.equal(await isStored('ada-1'), true)
  })

  test('lists the other data subjects that share an identifier, and which one', async () => {
    const plan = dataOf(await preview({ subjects: [{ trackerId: 'shop', subjectId: 'ada-1' }] }))
    assert.deepEqual(
      listIn(plan, 'subjects').map((each) => textIn(each, 'subjectId')),
      ['ada-1'],
    )
    const others = objectIn(plan, 'others')
    assert.deepEqual(
      listIn(others, 'subjects').map((each) => textIn(each, 'subjectId')),
      ['ada-2'],
    )
    const identifiers = listIn(others, 'identifiers').filter(isObject)
    assert.deepEqual(
      identifiers.map(({ name }) => name),
      ['email'],
      'no other has the user id',
    )
    const whole = dataOf(
      await preview({
        subjects: [{ trackerId: 'shop', subjectId: 'ada-1' }],
        identifiers: identifiers.map(({ name, value }) => ({ name: String(name), value: String(value) })),
      }),
    )
    assert.equal(listIn(whole, 'subjects').length, 2)
    assert.deepEqual(objectIn(whole, 'others'), { subjects: [], identifiers: [] })
  })

  test('lists data subjects that a shorter plan hides, which are erased too', async () => {
    const { shop: small, client: theirs } = await open()
    await small.ingest([
      ...visit('now', { identifiers: { email: 'eve@example.com' } }),
      ...visit('then', {
        startedAt: Date.now() - 300 * 86_400_000,
        identifiers: { email: 'eve@example.com' },
      }),
    ])
    await small.services.organisations.setPlan(small.organisationId, 'free')
    const plan = dataOf(await preview(ofEmail('eve@example.com'), theirs))
    assert.deepEqual(
      listIn(plan, 'subjects').map((each) => textIn(each, 'subjectId')),
      ['now'],
    )
    assert.deepEqual(plan.hidden, [{ trackerId: 'shop', subjectId: 'then' }])
    const id = await begin(theirs, ofEmail('eve@example.com'), 2)
    await untilBatch(small, id, isDone)
    await small.services.organisations.setPlan(small.organisationId, 'business')
    assert.equal(await isStored('then', 'shop', small), false)
  })
})

describe('the erasure of a person', () => {
  test('does not start unless the confirmed number matches the current data subjects', async () => {
    assert.deepEqual(problemFields(await askToErase(client, ofEmail('ada@example.com'), 1)), ['subjects'])
    assert.deepEqual(problemFields(await askToErase(client, ofEmail('nobody@example.com'), 1)), ['person'])
    assert.deepEqual(problemFields(await askToErase(client, {}, 0)), ['person'])
    const foreign = { subjects: [{ trackerId: 'nothing', subjectId: 'ada-1' }] }
    assert.deepEqual(problemFields(await askToErase(client, foreign, 1)), ['person'])
    const many = Array.from({ length: 32 }, (_, i) => ({ name: 'email', value: `${i}@example.com` }))
    const tooMany = { identifiers: many, subjects: [{ trackerId: 'shop', subjectId: 'ada-1' }] }
    assert.deepEqual(problemFields(await askToErase(client, tooMany, 1)), ['person'])
    const malformed = { subjects: [{ trackerId: 'shop', subjectId: '\ud800' }] }
    assert.deepEqual(problemFields(await askToErase(client, malformed, 1)), ['person'])
    assert.deepEqual(listIn(dataOf(await client.ask('/people')), 'batches'), [])
    assert.equal(await isStored('ada-1'), true)
  })

  test('produces one certificate with receipts at any time, and the person is forgotten', async () => {
    const id = await begin(client, ofEmail('ada@example.com'), 2)
    await untilBatch(shop, id, isDone)
    assert.deepEqual(
      [await isStored('ada-1'), await isStored('ada-2', blog), await isStored('ben')],
      [false, false, true],
    )
    for (let views = 0; views < 2; views++) {
      const { batch, certificates, ...rest } = await certificate(client, id)
      assert.partialDeepStrictEqual(batch, {
        ...{ kind: 'person', state: 'done', subjects: 2, settled: 2, left: 0, checkedAt: null },
        erased: { subjects: 2, sessions: 2, events: 4 },
      })
      assert.partialDeepStrictEqual(rest, { waiting: 0, gone: 0, stopped: 0, nextPlace: null })
      assert.equal(certificates.length, 2)
      for (const each of certificates) {
        const { trackerId } = objectIn(each, 'entry')
        const subjectId = trackerId === blog ? 'ada-2' : 'ada-1'
        const verifierKeys = listIn(each, 'verifierKeys').map(String)
        await verifyReceipt(textIn(each, 'receipt'), {
          verifierKeys,
          trackerId: String(trackerId),
          subjectId,
        })
      }
      assert.doesNotMatch(JSON.stringify([batch, certificates]), /ada-[12]\b|ada@example/i)
    }
    assert.equal((await shop.services.erasureBatches.find(shop.organisationId, id))?.person, null)
    assert.doesNotMatch(shop.logged.join('\n'), /ada-[12]\b|ada@example/i)
  })

  test('is in the list of erasures with each entry, and its receipts are in the certificates of the entries', async () => {
    const [first, second] = listIn(dataOf(await client.ask('/erasures?limit=2')), 'erasures').filter(isObject)
    const [batch] = listIn(dataOf(await client.ask('/people')), 'batches').filter(isObject)
    const expected = { id: String(batch?.id), kind: 'person', subjects: 2 }
    assert.deepEqual([first?.batch, second?.batch], [expected, expected])
    const own = dataOf(await client.ask(`/erasures/certificate?index=${first?.index}`))
    assert.match(textIn(own, 'receipt'), /^c2sp\.org\/tlog-proof@v1\n/)
    await shop.ask(subjectPath('ben'), { key: shop.key, method: 'DELETE' })
    const [byKey] = listIn(dataOf(await client.ask('/erasures?limit=1')), 'erasures').filter(isObject)
    assert.equal(byKey?.batch, null)
    assert.equal(dataOf(await client.ask(`/erasures/certificate?index=${byKey?.index}`)).receipt, null)
  })

  test('has a certificate for each of two members who requested it', async () => {
    await shop.ingest(visit('dora', { identifiers: { email: 'dora@example.com' } }))
    const other = await openConsole(shop, shop.organisationId)
    const ids = await Promise.all([
      begin(client, ofEmail('dora@example.com'), 1),
      begin(other, { subjects: [{ trackerId: 'shop', subjectId: 'dora' }] }, 1),
    ])
    for (const id of ids) await untilBatch(shop, id, isDone)
    const entries = await Promise.all(
      ids.map(async (id) => (await certificate(client, id)).certificates.map(({ erasure }) => erasure)),
    )
    assert.deepEqual(
      entries.map((each) => each.length),
      [1, 1],
    )
    assert.equal(await isStored('dora'), false)
  })
})

describe('the erasure of a person with more data subjects than the budget allows', async () => {
  const { shop: busy, client: member } = await open(2)
  const email = 'frida@example.com'
  const frida = (id: string) => visit(id, { identifiers: { email } })
  const isThere = (id: string) => isStored(id, 'shop', busy)
  /** Lets the window of the budget end. A session ends after two hours of inactivity. */
  const passHour = async () => {
    busy.passTime(hourMs)
    dataOf(await member.ask('/session'))
  }
  const rests = ({ resumesAt }: { resumesAt: number | null }) => resumesAt !== null

  test('waits when the budget is used up, says until when, and continues automatically', async () => {
    await busy.ingest(['f-1', 'f-2', 'f-3'].flatMap(frida))
    const id = await begin(member, ofEmail(email), 3)
    await untilBatch(busy, id, rests)
    const { batch, certificates, waiting } = await certificate(member, id)
    assert.partialDeepStrictEqual(batch, { state: 'running', settled: 2, subjects: 3, erased: null })
    assert.ok(Date.parse(textIn(batch, 'resumesAt')) > busy.services.clock() + hourMs / 2)
    assert.deepEqual([certificates.length, waiting], [2, 1])
    assert.partialDeepStrictEqual(dataOf(await preview(ofEmail(email), member)).budget, { remaining: 0 })
    const colleague = await openConsole(busy, busy.organisationId)
    assert.partialDeepStrictEqual(dataOf(await preview(ofEmail(email), colleague)).budget, { remaining: 2 })
    await passHour()
    await untilBatch(busy, id, isDone)
    assert.partialDeepStrictEqual((await certificate(member, id)).batch, { left: 0, resumesAt: null })
    for (const subjectId of ['f-1', 'f-2', 'f-3']) assert.equal(await isThere(subjectId), false)
  })

  test('erases data that arrived in the meantime, and reports what arrived after that', async () => {
    await passHour()
    await busy.ingest(['f-1', 'f-2', 'f-3'].map((id) => frida(id)).flatMap(laterOn(busy)))
    const id = await begin(member, ofEmail(email), 3)
    await untilBatch(busy, id, rests)
    await busy.ingest([frida('f-4'), frida('f-5')].flatMap(laterOn(busy)))
    await passHour()
    // The third, and one of those that arrived in the meantime.
    await untilBatch(busy, id, ({ settled, resumesAt }) => settled === 4 && resumesAt !== null)
    await busy.ingest(laterOn(busy)(frida('f-6')))
    await passHour()
    await untilBatch(busy, id, isDone)
    const { batch, certificates } = await certificate(member, id)
    assert.partialDeepStrictEqual(batch, { subjects: 5, left: 1, erased: { subjects: 5 } })
    assert.notEqual(batch.checkedAt, null)
    assert.equal(certificates.length, 5)
    assert.deepEqual([await isThere('f-5'), await isThere('f-6')], [false, true])
  })

  test('reports how many were not erased when stopped, and forgets the person', async () => {
    await passHour()
    await busy.ingest([frida('f-7'), frida('f-8')].flatMap(laterOn(busy)))
    const id = await begin(member, ofEmail(email), 3)
    await untilBatch(busy, id, rests)
    dataOf(await member.ask(`/batches/${id}/stop`, { method: 'POST', body: {} }))
    const { batch, certificates, stopped } = await certificate(member, id)
    assert.partialDeepStrictEqual(batch, { state: 'stopped', resumesAt: null, left: null })
    assert.deepEqual([certificates.length, stopped], [2, 1])
    assert.equal((await busy.services.erasureBatches.find(busy.organisationId, id))?.person, null)
  })
})

describe('the erasure of a person when the service is killed', () => {
  test('is finished by the next process, and then no file of the store identifies the person', async (t) => {
    const store = await emptyStore(t)
    const first = await startShop(t, { env: { LETHE_STORE: store, LETHE_BATCH_PACE: '1/day' }, scopes })
    const { organisationId } = first
    const email = 'gustav-erased@example.com'
    await first.ingest(['g-1', 'g-2', 'g-3'].flatMap((id) => visit(id, { identifiers: { email } })))
    const member = await openConsole(first, organisationId)
    const id = await begin(member, ofEmail(email), 3)
    await untilBatch(first, id, ({ settled }) => settled === 1)
    await first.stop()
    const env = { LETHE_STORE: store, LETHE_BATCH_PACE: '1000000/second' }
    const next = await startTestService(t, env, { shiftMs: 10_000 })
    await untilBatch({ ...next, organisationId }, id, isDone)
    const found = await next.services.search.subjects(
      { organisationId, since: 0 },
      { sought: { identifier: { name: 'email', value: email } }, limit: 10, after: null },
    )
    assert.deepEqual(found.rows, [])
    if (!store.startsWith('sqlite:')) return
    const path = store.slice('sqlite:'.length)
    for (const file of [path, `${path}-wal`].filter(existsSync))
      assert.equal(readFileSync(file).includes('gustav-erased'), false, file)
  })
})

/** The same visits with current times, so that no tombstone refuses them. */
function laterOn({ services }: Shop) {
  return (rows: ReturnType<typeof visit>): ReturnType<typeof visit> => {
    const now = services.clock()
    return rows.map((row) =>
      row.type === 'session' ? { ...row, startedAt: now, endedAt: now } : { ...row, occurredAt: now },
    )
  }
}
