import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, isObject, uuidPattern } from '../support/answers.ts'
import { openRawConnection, requestText } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const { key, services } = shop
await shop.ingest(visit('anna'))

const broken = () => Promise.reject(new Error('the secret cause'))

/** Makes the store fail until `work` is done. */
async function whileBroken(work: () => Promise<void>): Promise<void> {
  const { subjects, sessions, events, ping, apiKeys } = services
  const kept = { subjects: { ...subjects }, sessions: { ...sessions }, events: { ...events } }
  Object.assign(subjects, { list: broken, read: broken, erase: broken })
  Object.assign(sessions, { list: broken })
  Object.assign(events, { list: broken })
  services.ping = broken
  try {
    await work()
  } finally {
    Object.assign(subjects, kept.subjects)
    Object.assign(sessions, kept.sessions)
    Object.assign(events, kept.events)
    Object.assign(services, { ping, apiKeys })
  }
}

const linesOf = (requestId: string) =>
  shop.logged
    .map((line): unknown => JSON.parse(line))
    .filter((line) => isObject(line) && line.requestId === requestId)

describe('an unexpected failure', () => {
  for (const [method, path] of [
    ['GET', subjectsPath],
    ['GET', subjectPath('anna')],
    ['GET', `${subjectPath('anna')}/sessions`],
    ['GET', `${subjectPath('anna')}/events`],
    ['DELETE', subjectPath('anna')],
  ] as const) {
    test(`returns a 500 without the cause, which is logged: ${method} ${path}`, async () => {
      await whileBroken(async () => {
        const answer = await shop.ask(path, { method, key })
        const error = errorOf(answer, 'internal_error')
        assert.doesNotMatch(JSON.stringify(error), /secret|cause|Error|store|\.ts/)
        const requestId = answer.headers.get('x-request-id') ?? ''
        assert.match(requestId, uuidPattern)
        const [cause] = linesOf(requestId).filter((line) => isObject(line) && line.level === 50)
        assert.match(JSON.stringify(cause), /the secret cause/)
      })
    })
  }

  test('keeps the budget headers and the request ID of the client', async () => {
    await whileBroken(async () => {
      const answer = await shop.ask(subjectPath('anna'), { key, headers: { 'x-request-id': 'my id' } })
      errorOf(answer, 'internal_error')
      assert.equal(answer.headers.get('x-request-id'), 'my id')
      assert.ok(answer.headers.has('x-ratelimit-remaining'))
      assert.match(JSON.stringify(linesOf('my id')), /the secret cause/)
    })
  })

  test('has no body for HEAD', async () => {
    await whileBroken(async () => {
      const answer = await shop.ask(subjectPath('anna'), { key, method: 'HEAD' })
      assert.equal(answer.status, 500)
      assert.match(answer.headers.get('x-request-id') ?? '', uuidPattern)
    })
  })

  test('while looking up a key returns 500, not 401', async () => {
    const { findCaller } = services.apiKeys
    services.apiKeys.findCaller = broken
    const answer = await shop.ask(subjectsPath, { key })
    services.apiKeys.findCaller = findCaller
    errorOf(answer, 'internal_error')
  })

  test('does not affect later requests', async () => {
    dataOf(await shop.ask(subjectPath('anna'), { key }))
    dataOf(await shop.ask('/readyz'))
  })

  test('that is not an Error returns 500 too', async () => {
    const { read } = services.subjects
    for (const cause of ['a text', undefined, null, { statusCode: 418, code: 'TEAPOT' }]) {
      services.subjects.read = () => Promise.reject(cause)
      errorOf(await shop.ask(subjectPath('anna'), { key }), 'internal_error')
    }
    services.subjects.read = read
  })

  test('that has a status of its own returns 500 too', async () => {
    const { read } = services.subjects
    services.subjects.read = () => Promise.reject(Object.assign(new Error('gone'), { statusCode: 410 }))
    const answer = await shop.ask(subjectPath('anna'), { key })
    services.subjects.read = read
    errorOf(answer, 'internal_error')
  })
})

test('the health of the process does not depend on the store', async () => {
  await whileBroken(async () => {
    assert.deepEqual(dataOf(await shop.ask('/healthz')), { status: 'ok' })
  })
})

describe('requests of one batch', () => {
  /** Sends a read and an erasure together, to a store whose `batchReads` is replaced. */
  async function askInOneBatch(subjectId: string, batchReads: (reads: () => void) => void) {
    await shop.ingest(visit(subjectId))
    const { batchReads: sound } = services
    services.batchReads = batchReads
    const connection = await openRawConnection(shop.url)
    try {
      const methods = ['GET', 'DELETE']
      connection.send(methods.map((method) => requestText(subjectPath(subjectId), { method, key })).join(''))
      return [await connection.answer(), await connection.answer()] as const
    } finally {
      services.batchReads = sound
      connection.hangUp()
    }
  }

  test('each get their own response if the batched reads fail at the end', async () => {
    const [read, erased] = await askInOneBatch('ben', (reads) => {
      reads()
      throw new Error('cannot commit - no transaction is active')
    })
    dataOf(read)
    assert.equal(dataOf(erased).alreadyErased, false)
    errorOf(await shop.ask(subjectPath('ben'), { key }), 'not_found')
    assert.match(shop.logged.join('\n'), /no transaction is active/)
  })

  test('all fail if the batched reads fail at the start', async () => {
    const [read, erased] = await askInOneBatch('carl', () => {
      throw new Error('disk I/O error')
    })
    errorOf(read, 'internal_error')
    errorOf(erased, 'internal_error')
    dataOf(await shop.ask(subjectPath('carl'), { key }))
  })
})
