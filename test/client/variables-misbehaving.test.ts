import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { inspect } from 'node:util'
import { LetheClient } from '@lethe/client'
import { ConnectionError, createVariables, type VariablesOptions } from '@lethe/client/variables'
import { movedTime, steppedTime } from '../support/client.ts'
import {
  type Behaviour,
  failure,
  reply,
  reset,
  scriptedServer,
  silence,
  success,
} from '../support/scripted-server.ts'
import { until } from '../support/until.ts'

const token = `lethevar_${'a'.repeat(16)}_${'b'.repeat(38)}`

function values(variables: Record<string, unknown>, version: number, headers: Record<string, string> = {}) {
  return reply(200, success({ variables, version }), { headers: { ETag: `"${version}"`, ...headers } })
}

const first = values({ banner: 'Hello', limit: 3 }, 1)
const second = values({ banner: 'Bye', limit: 3, extra: [1] }, 2)
const notModified = reply(304, '', { headers: { ETag: '"1"' } })
const tooMany = failure(429, 'rate_limited', { 'Retry-After': '30' })
const html = { 'Content-Type': 'text/html' }

/** Variables without a background refresh, for a server with these responses. */
async function meeting(
  t: TestContext,
  options: Partial<VariablesOptions>,
  ...behaviours: [Behaviour, ...Behaviour[]]
) {
  const server = await scriptedServer(t, ...behaviours)
  const time = movedTime()
  const variables = createVariables({
    ...{ url: server.url, token, refreshSeconds: 0, runtime: time },
    ...options,
  })
  t.after(() => variables.close())
  const errors: Error[] = []
  variables.onError((error) => errors.push(error))
  return { ...server, time, variables, errors }
}

/** Everything that a program could print about an error. */
function everythingAbout(error: unknown): string {
  const options = { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }
  return `${error} ${JSON.stringify(error)} ${inspect(error, options)}`
}

describe('variables with a failing service', { concurrency: true }, () => {
  const failures: [what: string, behaviour: Behaviour, requests: number, expected: object][] = [
    ['a 401', failure(401, 'unauthorized'), 1, { code: 'unauthorized', status: 401 }],
    ['a 429 that asks for more time than there is', tooMany, 1, { retryAfterMs: 30_000 }],
    ['a 500', failure(500, 'internal_error'), 3, { code: 'internal_error' }],
    ['a 503 of a proxy', reply(503, '<html>', { headers: html }), 3, { status: 503 }],
    ['a reset', reset, 3, { name: 'ConnectionError' }],
    ['a body that breaks off', second.slice(0, -9), 3, { name: 'ConnectionError' }],
    ['HTML', reply(200, '<html>', { headers: html }), 1, { name: 'UnexpectedAnswerError' }],
    ['garbage', reply(200, '{"data":'), 3, { name: 'ConnectionError' }],
    ['no variables', reply(200, success({ version: 2 })), 1, { message: /does not match the API/ }],
    [
      'a list of variables',
      reply(200, success({ variables: [], version: 2 })),
      1,
      { message: /does not match the API/ },
    ],
    ['no version', reply(200, success({ variables: {} })), 1, { message: /does not match the API/ }],
    [
      'a redirect',
      reply(302, '', { headers: { Location: 'http://127.0.0.1:1/' } }),
      1,
      { message: /The address redirects/ },
    ],
    [
      'an error that repeats the address',
      reply(
        400,
        JSON.stringify({
          error: { code: 'invalid_request', message: `Bad: /v1/variables?token=${token}` },
          meta: { requestId: 'r', timestamp: '2026-11-15T12:00:00.000Z' },
        }),
      ),
      1,
      { message: 'Bad: /v1/variables?token=lethevar_…' },
    ],
    [
      'values too deep to copy',
      reply(
        200,
        `{"data":{"variables":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}},"version":2},"meta":{"requestId":"r","timestamp":"2026-11-15T12:00:00.000Z"}}`,
      ),
      1,
      { name: 'RangeError' },
    ],
  ]
  for (const [what, behaviour, requestCount, expected] of failures) {
    it(`keep their values after ${what}, until the service recovers`, async (t) => {
      const failing = Array.from({ length: requestCount }, () => behaviour)
      const { variables, errors, requests, time } = await meeting(t, {}, first, ...failing, second)
      assert.equal(await variables.ready(), true)
      await assert.rejects(variables.refresh(), expected)
      assert.equal(requests.length, 1 + requestCount)
      assert.equal(errors.length, 1)
      assert.equal(variables.error, errors[0])
      assert.equal(variables.string('banner', ''), 'Hello')
      assert.equal(variables.version, 1)
      assert.ok(!everythingAbout(errors[0]).includes(token), everythingAbout(errors[0]))

      await time.wait(60_000)
      await variables.refresh()
      assert.deepEqual([variables.string('banner', ''), variables.error], ['Bye', null])
      assert.equal(errors.length, 1)
    })
  }

  it('do not reveal the token in errors of the runtime', async () => {
    const fetch = async (address: string | URL | Request) => {
      // Deno and Bun throw such errors.
      throw Object.assign(new TypeError(`error sending request for url (${address})`), { path: `${address}` })
    }
    const runtime = movedTime()
    const variables = createVariables({ url: 'http://127.0.0.1:1', token, fetch, runtime, refreshSeconds: 0 })
    assert.equal(await variables.ready(), false)
    assert.ok(variables.error instanceof ConnectionError)
    assert.match(variables.error.message, /url \(http:\/\/127\.0\.0\.1:1\/v1\/variables\?token=lethevar_…\)/)
    assert.ok(!everythingAbout(variables.error).includes(token))
    assert.ok(!everythingAbout(variables).includes(token))
  })

  it('time out if the service does not respond', async (t) => {
    const { variables } = await meeting(t, { timeoutMs: 300 }, silence)
    assert.equal(await variables.ready(), false)
    assert.equal(variables.error?.name, 'TimeoutError')
    assert.ok(!everythingAbout(variables.error).includes(token))
  })

  it('start with immutable initial values, and are loaded later', async (t) => {
    const initial = { banner: 'Soon', list: ['a'] }
    const { variables } = await meeting(t, { initial }, failure(401, 'unauthorized'), first)
    const changes: object[] = []
    variables.onChange((change) => changes.push(change))
    initial.list.push('b')
    assert.equal(await variables.ready(), false)
    assert.deepEqual([variables.version, variables.all()], [null, { banner: 'Soon', list: ['a'] }])
    assert.throws(() => variables.object<string[]>('list', []).push('c'), TypeError)
    await variables.refresh()
    assert.deepEqual([await variables.ready(), variables.all()], [true, { banner: 'Hello', limit: 3 }])
    assert.deepEqual(changes, [{ version: 1, added: ['limit'], changed: ['banner'], removed: ['list'] }])
  })

  it('accept a 304 only for the version they have', async (t) => {
    const { variables, requests } = await meeting(t, {}, notModified, first, notModified)
    assert.equal(await variables.ready(), false)
    assert.equal(variables.error?.name, 'UnexpectedAnswerError')
    await variables.refresh()
    await variables.refresh()
    assert.deepEqual(
      requests.map(({ headers }) => headers.get('if-none-match')),
      [undefined, undefined, '"1"'],
    )
    assert.deepEqual([variables.version, variables.number('limit', 0)], [1, 3])
  })
})

describe('the background refresh', { concurrency: true }, () => {
  async function refreshing(
    t: TestContext,
    refreshSeconds: number,
    ...behaviours: [Behaviour, ...Behaviour[]]
  ) {
    const runtime = steppedTime()
    return { ...(await meeting(t, { refreshSeconds, runtime }, ...behaviours)), runtime }
  }

  it('comes sooner after temporary failures, at increasing intervals', async (t) => {
    const { runtime } = await refreshing(t, 20, first, reset)
    const pauses: number[] = []
    for (let i = 0; i < 7; i += 1) pauses.push(await runtime.step())
    assert.deepEqual(pauses, [20_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000])
  })

  it('keeps its interval after permanent failures', async (t) => {
    const { runtime, errors } = await refreshing(t, 20, failure(401, 'unauthorized'), first)
    assert.equal(await runtime.step(), 20_000)
    assert.equal(await runtime.step(), 20_000)
    assert.equal(errors.length, 1)
  })

  it('varies by a quarter around its interval', async (t) => {
    for (const [random, expected] of [
      [0, 15_000],
      [1, 25_000],
    ] as const) {
      const runtime = { ...steppedTime(), random: () => random }
      await meeting(t, { refreshSeconds: 20, runtime }, first)
      assert.equal(await runtime.step(), expected)
    }
  })

  it('waits for the Retry-After of a 429, like a manual refresh', async (t) => {
    const { runtime, variables, requests } = await refreshing(t, 5, first, tooMany, second)
    assert.equal(await runtime.step(), 5_000)
    await until(() => variables.error !== null)
    await assert.rejects(variables.refresh(), { code: 'rate_limited' })
    assert.equal(requests.length, 2)
    const pauseMs = await runtime.step()
    assert.ok(pauseMs > 30_000 && pauseMs < 38_000, String(pauseMs))
    await until(() => variables.version === 2)
  })

  it('waits until a used-up budget resets', async (t) => {
    const spent = {
      'RateLimit-Policy': '"ip";q=60;w=60, "variables";q=6000;w=60',
      RateLimit: '"ip";r=0;t=40, "variables";r=9;t=50',
    }
    const { runtime } = await refreshing(t, 5, values({}, 1, spent))
    const pauseMs = await runtime.step()
    assert.ok(pauseMs > 40_000 && pauseMs <= 45_000, String(pauseMs))
  })
})

describe('a refresh', { concurrency: true }, () => {
  it('is one request at a time, and concurrent calls share the next one', async (t) => {
    const held: Socket[] = []
    const hold = (socket: Socket) => void held.push(socket)
    const { variables, requests } = await meeting(t, { timeoutMs: 30_000 }, hold, second)
    await until(() => held.length === 1)
    const asked = [variables.refresh(), variables.refresh(), variables.refresh()]
    held[0]?.end(first)
    await Promise.all(asked)
    assert.equal(requests.length, 2)
    assert.equal(variables.version, 2)
  })

  it('calls all listeners even if one throws, and rethrows the exception separately', async (t) => {
    const { variables } = await meeting(t, {}, first)
    const thrown: unknown[] = []
    const { queueMicrotask } = globalThis
    t.mock.method(globalThis, 'queueMicrotask', (work: () => void) =>
      queueMicrotask(() => {
        try {
          work()
        } catch (error) {
          thrown.push(error)
        }
      }),
    )
    const seen: number[] = []
    const stopFirst = variables.onChange(() => seen.push(0))
    variables.onChange(() => {
      throw new Error('of a listener')
    })
    variables.onChange(({ version }) => seen.push(version))
    stopFirst()
    await variables.ready()
    assert.deepEqual(seen, [1])
    assert.equal(variables.error, null)
    await until(() => thrown.length === 1)
    assert.match(String(thrown[0]), /of a listener/)
  })

  it('is aborted when the variables are closed, without an error, and keeps the known values', async (t) => {
    let closed = false
    const hang = (socket: Socket) => void socket.on('close', () => (closed = true))
    const { variables, errors, requests } = await meeting(t, { timeoutMs: 30_000 }, first, hang)
    await variables.ready()
    const refreshing = variables.refresh()
    await until(() => requests.length === 2)
    variables.close()
    variables.close()
    await assert.rejects(refreshing, { message: 'The variables are closed.' })
    await assert.rejects(variables.refresh(), { message: 'The variables are closed.' })
    await until(() => closed)
    assert.deepEqual([errors, variables.error, variables.string('banner', '')], [[], null, 'Hello'])
    assert.equal(requests.length, 2)
  })
})

describe('a token', () => {
  it('must be a variable token, so that no API key gets into a URL', () => {
    for (const wrong of ['lethe_abc_def', '', `${token}&x=1`, `${token}\n`]) {
      assert.throws(() => createVariables({ url: 'http://127.0.0.1:1', token: wrong }), {
        name: 'TypeError',
        message: 'token must be a variable token, lethevar_….',
      })
    }
  })

  it('is sent to the address of the client without its key, or to another address', async (t) => {
    const main = await scriptedServer(t, first)
    const own = await scriptedServer(t, second)
    const client = new LetheClient({ url: main.url, apiKey: 'lethe_secret' })
    for (const [url, version] of [
      [undefined, 1],
      [own.url, 2],
    ] as const) {
      const variables = client.variables({ token, refreshSeconds: 0, url })
      await variables.ready()
      assert.equal(variables.version, version)
    }
    for (const { line, headers } of [...main.requests, ...own.requests]) {
      assert.equal(line, `GET /v1/variables?token=${token} HTTP/1.1`)
      assert.equal(headers.get('authorization'), undefined)
    }
  })
})
