import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { MemoryLimiter } from '../../src/limiter/memory-limiter.ts'
import { dataOf, errorOf, isObject } from '../support/answers.ts'
import { startShop } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { services, logged } = shop

/** Requests `/readyz` while `ping` of the store is replaced. */
async function askWith(ping: () => Promise<void>, method = 'GET') {
  const { ping: kept } = services
  services.ping = ping
  try {
    return await shop.ask('/readyz', { method })
  } finally {
    services.ping = kept
  }
}

function failureOf(requestId: string | null): string {
  const lines = logged.map((line): unknown => JSON.parse(line))
  return JSON.stringify(lines.filter((line) => isObject(line) && line.requestId === requestId && line.err))
}

describe('readiness', () => {
  test('is reported for each component', async () => {
    const data = dataOf(await shop.ask('/readyz'))
    assert.deepEqual(data, { status: 'ready', parts: { store: 'ok', limiter: 'ok' } })
  })

  test('is a 500 that names the store if it fails; the cause is only logged', async () => {
    const answer = await askWith(() => Promise.reject(new Error('the secret cause')))
    const error = errorOf(answer, 'internal_error')
    assert.equal(error.message, 'The store does not answer.')
    assert.doesNotMatch(JSON.stringify(answer.body), /secret|cause/)
    assert.match(failureOf(answer.headers.get('x-request-id')), /the secret cause/)
  })

  test('is a 500 after two seconds if the store hangs, until it responds again', async () => {
    const { promise, reject } = Promise.withResolvers<void>()
    const startedAt = performance.now()
    const answer = await askWith(() => promise)
    const waitedMs = performance.now() - startedAt
    assert.equal(errorOf(answer, 'internal_error').message, 'The store does not answer.')
    assert.ok(waitedMs >= 1_990 && waitedMs < 30_000, `${waitedMs} ms`)
    assert.match(failureOf(answer.headers.get('x-request-id')), /has not responded for 2000 ms/)
    // A late failure has no effect.
    reject(new Error('much too late'))
    dataOf(await shop.ask('/readyz'))
  })

  test('can be read with HEAD', async () => {
    const answer = await askWith(() => Promise.reject(new Error('gone')), 'HEAD')
    assert.deepEqual([answer.status, answer.body], [500, null])
  })

  test('does not depend on the limiter, without which requests continue', async (t) => {
    t.mock.method(MemoryLimiter.prototype, 'isReachable', () => false)
    const data = dataOf(await shop.ask('/readyz'))
    assert.deepEqual(data, { status: 'ready', parts: { store: 'ok', limiter: 'unreachable' } })
  })

  test('recovers when the store does', async () => {
    errorOf(await askWith(() => Promise.reject(new Error('gone'))), 'internal_error')
    dataOf(await shop.ask('/readyz'))
  })
})
