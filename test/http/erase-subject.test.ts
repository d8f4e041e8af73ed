import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, isObject, listIn, textIn } from '../support/answers.ts'
import { openRawConnection, requestText } from '../support/raw-http.ts'
import { anHourAgo, startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const shop = await startShop({ after }, { scopes: ['analytics:delete-data'], writesHere: false })
const { key } = shop
const viewer = (await shop.createKey(shop.organisationId, ['analytics:view'])).keyString

const erase = (subjectId: string) => shop.ask(subjectPath(subjectId), { method: 'DELETE', key })

describe('erasing a subject', () => {
  test('returns the counts and the time of the erasure', async () => {
    await shop.ingest([...visit('anna', { events: 3 }), ...visit('anna', { sessionId: 's2', events: 2 })])
    const before = Date.now()
    const { erasedAt, receipt, ...erasure } = dataOf(await erase('anna'))
    assert.deepEqual(erasure, {
      trackerId: 'shop',
      subjectId: 'anna',
      alreadyErased: false,
      counts: { sessions: 2, events: 5 },
    })
    const instant = Date.parse(String(erasedAt))
    assert.ok(instant >= before && instant <= Date.now())
    assert.match(String(receipt), /^c2sp\.org\/tlog-proof@v1\nextra [^\n]+\nindex 0\n\nlethe\.local\//)
    assert.match(String(erasedAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('leaves nothing that a request can find', async () => {
    await shop.ingest([...visit('berta', { events: 3 }), ...visit('bert')])
    await erase('berta')
    errorOf(await shop.ask(subjectPath('berta'), { key: viewer }), 'not_found')
    errorOf(await shop.ask(`${subjectPath('berta')}/sessions`, { key: viewer }), 'not_found')
    errorOf(await shop.ask(`${subjectPath('berta')}/events`, { key: viewer }), 'not_found')
    const list = dataOf(await shop.ask(`${subjectsPath}?subjectIdPrefix=bert`, { key: viewer }))
    assert.deepEqual(
      listIn(list, 'subjects').map((subject) => textIn(subject, 'subjectId')),
      ['bert'],
    )
  })

  test('deletes nothing the second time', async () => {
    await shop.ingest(visit('clara'))
    assert.equal(dataOf(await erase('clara')).alreadyErased, false)
    for (let i = 0; i < 2; i++) {
      const { erasedAt, receipt, ...again } = dataOf(await erase('clara'))
      assert.equal(typeof erasedAt, 'string')
      assert.equal(typeof receipt, 'string')
      assert.deepEqual(again, {
        trackerId: 'shop',
        subjectId: 'clara',
        alreadyErased: true,
        counts: { sessions: 0, events: 0 },
      })
    }
  })

  test('deletes nothing if the subject was never seen', async () => {
    assert.partialDeepStrictEqual(dataOf(await erase('never-seen')), {
      subjectId: 'never-seen',
      alreadyErased: true,
      counts: { sessions: 0, events: 0 },
    })
  })

  test('does not block data collected later, which can be erased again', async () => {
    await shop.ingest(visit('dora'))
    await erase('dora')
    const startedAt = Math.max(Date.now(), anHourAgo) + 3_600_000
    const returned = visit('dora', { sessionId: 's2', startedAt, events: 2 })
    const added = await shop.services.ingest.ingest(returned, shop.services.keyring.tombstoneKeys)
    assert.deepEqual(added, { subjects: 1, sessions: 1, events: 2 })
    assert.deepEqual(dataOf(await shop.ask(subjectPath('dora'), { key: viewer })).counts, {
      sessions: 1,
      events: 2,
    })
    assert.deepEqual(dataOf(await erase('dora')).counts, { sessions: 1, events: 2 })
  })

  test('does not affect the same subject of another tracker', async () => {
    const trackerId = await shop.createTracker(shop.organisationId)
    await shop.ingest([...visit('emma'), ...visit('emma', { trackerId })])
    await erase('emma')
    dataOf(await shop.ask(subjectPath('emma', trackerId), { key: viewer }))
  })

  test('returns 404 for an unknown tracker', async () => {
    errorOf(await shop.ask(subjectPath('anna', 'nowhere'), { method: 'DELETE', key }), 'not_found')
  })

  test('needs the scope for erasures only', async () => {
    errorOf(await shop.ask(subjectPath('anna'), { key }), 'forbidden')
  })
})

describe('twenty concurrent erasures of one subject', () => {
  test('all succeed, and exactly one reports the counts', async () => {
    await shop.ingest(visit('fanny', { events: 200 }))
    const erasures = await Promise.all(Array.from({ length: 20 }, async () => dataOf(await erase('fanny'))))
    const counts = erasures.map((erasure) => JSON.stringify([erasure.alreadyErased, erasure.counts])).sort()
    assert.deepEqual(counts, [
      JSON.stringify([false, { sessions: 1, events: 200 }]),
      ...Array.from({ length: 19 }, () => JSON.stringify([true, { sessions: 0, events: 0 }])),
    ])
  })
})

describe('a client that disconnects', () => {
  test('does not stop the erasure', async () => {
    await shop.ingest(visit('gerda', { events: 20 }))
    const { subjects } = shop.services
    const erasing = subjects.erase
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
    const { promise: finished, resolve: finish } = Promise.withResolvers<unknown>()
    subjects.erase = async (...args) => {
      reach()
      await gone
      const erased = await erasing(...args)
      finish(erased?.counts)
      return erased
    }
    const connection = await openRawConnection(shop.url)
    connection.send(requestText(subjectPath('gerda'), { method: 'DELETE', key }))
    await reached
    connection.hangUp()
    await until(() => shop.logged.some((line) => line.includes('"hungUp":true')))
    leave()
    assert.deepEqual(await finished, { sessions: 1, events: 20 })
    subjects.erase = erasing
    errorOf(await shop.ask(subjectPath('gerda'), { key: viewer }), 'not_found')
    assert.equal(dataOf(await erase('gerda')).alreadyErased, true)
  })
})

describe('other requests', () => {
  test('are answered during the erasure of a large subject', async () => {
    for (const sessionId of ['s1', 's2', 's3'])
      await shop.ingest(visit('hilde', { sessionId, events: 4_000 }))
    await shop.ingest(visit('ida'))
    let isErased = false
    const erasure = erase('hilde').then((answer) => {
      isErased = true
      return dataOf(answer)
    })
    let answered = 0
    while (!isErased) {
      assert.ok(isObject(dataOf(await shop.ask(subjectPath('ida'), { key: viewer }))))
      if (!isErased) answered++
    }
    assert.deepEqual((await erasure).counts, { sessions: 3, events: 12_000 })
    assert.ok(answered > 0, 'no request was answered before the erasure was')
  })
})
