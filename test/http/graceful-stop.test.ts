import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { dataOf } from '../support/answers.ts'
import { assertDocumented } from '../support/documented.ts'
import { openRawConnection, type RawConnection, requestText } from '../support/raw-http.ts'
import { type Shop, startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const both = ['analytics:view', 'analytics:delete-data'] as const

/** Reports when an erasure reaches the store, and blocks it until it is released. */
function holdErasure({ services: { subjects } }: Shop) {
  const { erase } = subjects
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  subjects.erase = async (...args) => {
    reach()
    await released
    return erase(...args)
  }
  return { reached, release }
}

/** A connection with an erasure in progress. */
async function startErasure({ url, key }: Shop, reached: Promise<void>) {
  const connection = await openRawConnection(url)
  connection.send(requestText(subjectPath('anna'), { method: 'DELETE', key }))
  await reached
  return connection
}

async function isRefused({ url }: Shop): Promise<boolean> {
  try {
    const connection = await openRawConnection(url)
    connection.hangUp()
    return false
  } catch {
    return true
  }
}

/**
 * Long enough for a busy machine, and shorter than each timeout after which the service itself closes a
 * connection.
 */
const promptMs = 9_000

/** Fails if the service waits for an idle client to disconnect before it stops. */
async function assertPrompt(stopped: Promise<void>, client: RawConnection): Promise<void> {
  let isStopped = false
  const noted = stopped.then(() => {
    isStopped = true
  })
  await Promise.race([noted, setTimeout(promptMs, null, { ref: false })])
  const wasPrompt = isStopped
  client.hangUp()
  await noted
  assert.ok(wasPrompt, 'the service waited for a connection on which no request was under way')
}

describe('stopping', () => {
  test('completes and answers a large erasure, then closes immediately', async (t) => {
    const shop = await startShop(t, { scopes: both, writesHere: false })
    for (const sessionId of ['s1', 's2', 's3']) {
      await shop.ingest(visit('anna', { sessionId, events: 2_000 }))
    }
    const { reached, release } = holdErasure(shop)
    release()
    const connection = await startErasure(shop, reached)
    const stopped = shop.stop()
    const answer = await connection.answer()
    assertDocumented('DELETE', subjectPath('anna'), answer)
    assert.deepEqual(dataOf(answer).counts, { sessions: 3, events: 6_000 })
    // The client keeps its connection open; the service must not wait for it.
    await assertPrompt(stopped, connection)
  })

  test('refuses new connections', async (t) => {
    const shop = await startShop(t, { scopes: both })
    const { reached, release } = holdErasure(shop)
    const running = await startErasure(shop, reached)
    const stopped = shop.stop()
    await until(() => isRefused(shop))
    release()
    dataOf(await running.answer())
    running.hangUp()
    await stopped
  })

  test('answers or closes kept-alive connections, never with a 503', async (t) => {
    const shop = await startShop(t, { scopes: both })
    const idle = await Promise.all(Array.from({ length: 5 }, () => openRawConnection(shop.url)))
    for (const connection of idle) {
      connection.send(requestText(subjectsPath, { key: shop.key }))
      dataOf(await connection.answer())
    }
    const { reached, release } = holdErasure(shop)
    const running = await startErasure(shop, reached)
    const stopped = shop.stop()
    for (const connection of idle) connection.send(requestText(subjectsPath, { key: shop.key }))
    for (const connection of idle) assert.match(await connection.rest(), /^(HTTP\/1\.1 200 |$)/)
    release()
    dataOf(await running.answer())
    running.hangUp()
    await stopped
  })

  test('answers a request pipelined after a running one, or closes the connection', async (t) => {
    const shop = await startShop(t, { scopes: both })
    const { reached, release } = holdErasure(shop)
    const connection = await startErasure(shop, reached)
    const stopped = shop.stop()
    connection.send(requestText(subjectsPath, { key: shop.key }))
    release()
    dataOf(await connection.answer())
    assert.match(await connection.rest(), /^(HTTP\/1\.1 200 |$)/)
    await stopped
  })

  test('does not wait for idle clients', async (t) => {
    const shop = await startShop(t, { scopes: both })
    const silent = await openRawConnection(shop.url)
    const keptAlive = await openRawConnection(shop.url)
    keptAlive.send(requestText('/healthz'))
    dataOf(await keptAlive.answer())
    await assertPrompt(shop.stop(), silent)
    assert.equal(await keptAlive.rest(), '')
  })

  test('does not wait for incomplete requests', async (t) => {
    for (const text of ['GET', `GET ${subjectsPath} HTTP/1.1\r\nHost: test\r\n`]) {
      const shop = await startShop(t, { scopes: both })
      const slow = await openRawConnection(shop.url)
      slow.send(text)
      // These bytes arrive later on the same loop: once answered, the server has read the ones before.
      dataOf(await shop.ask('/healthz'))
      await assertPrompt(shop.stop(), slow)
    }
  })

  test('does not wait for a client that disconnected during its body', async (t) => {
    const shop = await startShop(t, { scopes: both })
    const { url, key, logged } = shop
    const leaving = await openRawConnection(url)
    leaving.send(requestText(subjectsPath, { key, headers: { 'Content-Length': '9' }, body: 'x' }))
    dataOf(await shop.ask('/healthz'))
    leaving.hangUp()
    await until(() => logged.some((line) => line.includes('{trackerId}')))
    await assertPrompt(shop.stop(), leaving)
  })
})
