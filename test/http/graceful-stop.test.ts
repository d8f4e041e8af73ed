import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { dataOf } from '../support/answers.ts'
import { assertDocumented } from '../support/documented.ts'
import { openRawConnection, requestText } from '../support/raw-http.ts'
import { type Shop, startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const both = ['analytics:view', 'analytics:delete-data'] as const

/** Tells when the store is asked to erase, and holds the erasure until it is let go. */
function holdErasure({ workplace: { subjects } }: Shop) {
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

/** A connection on which an erasure is under way. */
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

describe('stopping', () => {
  test('lets a large erasure finish, answers it, and closes at once', async (t) => {
    const shop = await startShop(t, { scopes: both })
    for (const sessionId of ['s1', 's2', 's3', 's4', 's5']) {
      await shop.ingest(visit('anna', { sessionId, events: 10_000 }))
    }
    const { reached, release } = holdErasure(shop)
    release()
    const connection = await startErasure(shop, reached)
    let isStopped = false
    const stopped = shop.stop().then(() => {
      isStopped = true
    })
    const answer = await connection.answer()
    assertDocumented('DELETE', subjectPath('anna'), answer)
    assert.deepEqual(dataOf(answer).counts, { sessions: 5, events: 50_000 })
    // The client keeps its connection, as clients do; the service need not wait for it.
    await Promise.race([stopped, setTimeout(3_000, null, { ref: false })])
    const wasPrompt = isStopped
    connection.hangUp()
    await stopped
    assert.ok(wasPrompt, 'the service waited for a connection on which nothing was under way')
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

  test('answers or closes connections that are kept alive, never with a 503', async (t) => {
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

  test('answers what comes behind a running request on its connection, or closes', async (t) => {
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

  test('waits for no client that has nothing to ask', async (t) => {
    const shop = await startShop(t, { scopes: both })
    const silent = await openRawConnection(shop.url)
    const keptAlive = await openRawConnection(shop.url)
    keptAlive.send(requestText('/healthz'))
    dataOf(await keptAlive.answer())
    const startedAt = performance.now()
    await shop.stop()
    assert.ok(performance.now() - startedAt < 3_000)
    assert.equal(await silent.rest(), '')
    assert.equal(await keptAlive.rest(), '')
  })
})
