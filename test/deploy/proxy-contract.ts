import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { dataOf, errorOf, isObject, listIn, textIn } from '../support/answers.ts'
import { addMember, password } from '../support/console.ts'
import type { Answer } from '../support/documented.ts'
import { inReverse } from '../support/in-reverse.ts'
import { listen } from '../support/listen.ts'
import type { Lifetime } from '../support/service.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { readZip } from '../support/zip.ts'

export interface ProxyRequest {
  method?: string
  key?: string
  headers?: Record<string, string>
  body?: string
  /** The address of the client. */
  from?: string
}

/** A proxy with the example configuration in front of a port. */
interface Proxy {
  /** Sends a request with an unchanged target. */
  ask(target: string, request?: ProxyRequest): Promise<Answer>
  /** The same over HTTP/2. */
  askHttp2(target: string, request?: ProxyRequest): Promise<Answer>
  /** Sends bytes unchanged over TLS, and returns the complete response. */
  send(bytes: string): Promise<string>
  /** All log output of the proxy. */
  logged(): string
  stop(): Promise<void>
}

export type OpenProxy = (t: Lifetime, upstreamPort: number) => Promise<Proxy>

/** Requests that a proxy may refuse by itself, by what is wrong with them. */
const refusedRequests: Record<string, string> = {
  'another method': 'TRACE /v1/analytics/ledger HTTP/1.1\r\nHost: lethe.example\r\n\r\n',
  'an unknown transfer coding':
    'POST /v1/analytics/ledger HTTP/1.1\r\nHost: lethe.example\r\nTransfer-Encoding: odd\r\n\r\n',
  'another version of HTTP': 'GET /v1/analytics/ledger HTTP/3.0\r\nHost: lethe.example\r\n\r\n',
  'no host': 'GET /v1/analytics/ledger HTTP/1.1\r\n\r\n',
  'two hosts': 'GET /v1/analytics/ledger HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'two lengths':
    'POST /v1/analytics/ledger HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
  'no request line': 'nonsense\r\n\r\n',
  'a header without a name': 'GET /v1/analytics/ledger HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n',
  'a broken path': 'GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n',
}

const scopes = ['analytics:view', 'analytics:delete-data', 'analytics:manage-requests'] as const

/**
 * Tests the example configuration of a proxy with a real service. `skip` is the reason if the proxy is not
 * available; `plainText` lists requests that it answers by itself and not in the envelope.
 */
export function proxyContract(
  open: OpenProxy,
  skip: false | string,
  { plainText = [] }: { plainText?: readonly string[] } = {},
): void {
  async function startBehind(t: Lifetime, env: Record<string, string> = {}) {
    const settings = { LETHE_TRUSTED_PROXIES: '127.0.0.1', ...env }
    const shop = await startShop(t, { env: settings, scopes })
    return { shop, proxy: await open(t, Number(new URL(shop.url).port)) }
  }
  const lifetime = inReverse({ after })
  let starting: ReturnType<typeof startBehind> | null = null
  /** A service behind a proxy, shared by independent tests. */
  function shared(): ReturnType<typeof startBehind> {
    starting ??= startBehind(lifetime)
    return starting
  }

  test('it passes IDs through unchanged', { skip }, async () => {
    const { shop, proxy } = await shared()
    const { key } = shop
    for (const id of [
      'a/b//c/',
      '../../etc',
      'a.b..c.',
      'visitor-\u{1f600}',
      'a%25b%2Fc%00',
      '100%',
      '?a=b&c#d;e:f@g,h!$*()[]{}|\\^~',
      ' a  b+c ',
      '"\'<script>',
      '\u{1f600}'.repeat(256),
    ]) {
      await shop.ingest(visit(id))
      const path = subjectPath(id)
      assert.equal(dataOf(await proxy.ask(path, { key })).subjectId, id)
      assert.equal(dataOf(await proxy.ask(path, { key, method: 'DELETE' })).alreadyErased, false)
      errorOf(await proxy.ask(path, { key }), 'not_found')
    }
  })

  test('it supports signing in at an address with a port, a preview of 10,000 addresses, an export and an erasure', {
    skip,
  }, async (t) => {
    const { shop, proxy } = await startBehind(t)
    await shop.ingest(visit('anna', { events: 3_000, identifiers: { email: 'anna@example.com' } }))
    const { email } = await addMember(shop, shop.organisationId)
    const host = 'lethe.example:8443'
    let cookie = ''
    const askConsole = (path: string, method: string, body?: object) =>
      proxy.askHttp2(`/console/api${path}`, {
        method,
        headers: {
          ':authority': host,
          origin: `https://${host}`,
          'content-type': 'application/json',
          ...(cookie !== '' && { cookie }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
    const signedIn = await askConsole('/sign-in', 'POST', { email, password })
    dataOf(signedIn)
    const cookies = signedIn.headers.getSetCookie()
    assert.match(cookies[0] ?? '', /^__Host-lethe-console=.*; Path=\/; .*; Secure$/)
    cookie = cookies.map((each) => each.split(';')[0]).join('; ')

    // About 3 MB. Most lines are too long to be an address, so the service does not look them up.
    const lines = ['anna@example.com', ...Array.from({ length: 9_999 }, (_, n) => `${n}${'x'.repeat(300)}`)]
    const list = { text: lines.join('\n'), format: 'lines', by: 'email', trackerIds: [], reference: 'List' }
    const plan = dataOf(await askConsole('/erasure-lists/preview', 'POST', list))
    assert.partialDeepStrictEqual(plan, { lines: 10_000, invalid: 9_999, found: { subjects: 1 } })

    const exported = await proxy.askHttp2(`${subjectPath('anna')}/export`, { key: shop.key })
    assert.equal(listIn(dataOf(exported), 'events').length, 3_000)
    dataOf(await askConsole('/erasure-lists', 'POST', { ...list, text: 'anna@example.com', subjects: 1 }))
    const group = async () => dataOf(await askConsole('/request-groups?reference=List', 'GET'))
    await until(async () => (await group()).closedAt !== null)
    errorOf(await proxy.askHttp2(subjectPath('anna'), { key: shop.key }), 'not_found')
    const erased = await proxy.askHttp2(subjectPath('anna'), { key: shop.key, method: 'DELETE' })
    assert.equal(dataOf(erased).alreadyErased, true)
  })

  test('it responds in the envelope to a list that is too long, over HTTP/2 too', { skip }, async () => {
    const { proxy } = await shared()
    for (const mebibytes of [4.5, 9]) {
      const request = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: 'x'.repeat(mebibytes * 1_048_576),
      }
      const answer = await proxy.askHttp2('/console/api/erasure-lists/preview', request)
      assert.ok([400, 401, 403].includes(answer.status), JSON.stringify(answer.body))
      const { error, meta } = JSON.parse(JSON.stringify(answer.body))
      assert.match(textIn(error, 'code'), /^(invalid_request|unauthorized|forbidden)$/)
      assert.equal(textIn(meta, 'requestId'), answer.headers.get('x-request-id'))
    }
  })

  test('it passes requests up to the limits of Lethe', { skip }, async () => {
    const { shop, proxy } = await shared()
    const long = '\u{1f600}'.repeat(256)
    const target = `${subjectPath(long, long)}/events?cursor=${'x'.repeat(4_096)}`
    errorOf(await proxy.ask(target, { key: shop.key }), 'validation_error')
  })

  test('it forwards the address of the client, and no address that the client claims', {
    skip,
  }, async (t) => {
    const { proxy } = await startBehind(t, { LETHE_LIMIT_IP: '2/minute' })
    const statuses: number[] = []
    for (const from of ['127.0.0.2', '127.0.0.2', '127.0.0.3', '127.0.0.2', '127.0.0.3', '127.0.0.3']) {
      const headers = { 'X-Forwarded-For': `203.0.113.${statuses.length}` }
      statuses.push((await proxy.ask(subjectsPath, { from, headers })).status)
    }
    assert.deepEqual(statuses, [401, 401, 401, 429, 401, 429])
  })

  test('it keeps request IDs and budget headers', { skip }, async () => {
    const { shop, proxy } = await shared()
    const answer = await proxy.ask(subjectsPath, { key: shop.key, headers: { 'X-Request-Id': 'nightly 42' } })
    assert.equal(textIn(isObject(answer.body) ? answer.body.meta : null, 'requestId'), 'nightly 42')
    dataOf(answer)
    assert.equal(answer.headers.get('x-ratelimit-limit'), '1000000')
    assert.equal(answer.headers.get('strict-transport-security'), 'max-age=31536000')
  })

  for (const [what, bytes] of Object.entries(refusedRequests)) {
    const isPlain = plainText.includes(what)
    test(`it refuses a request with ${what} ${isPlain ? 'in plain text' : 'in the envelope'}`, {
      skip,
    }, async () => {
      const { proxy } = await shared()
      const [head = '', body = ''] = (await proxy.send(bytes)).split('\r\n\r\n')
      assert.match(head, isPlain ? /^HTTP\/1\.[01] [45]\d\d / : /^HTTP\/1\.[01] 40[01] /, head)
      if (isPlain) return
      assert.match(head, /^content-type: application\/json/im, head)
      const [, id = ''] = /^x-request-id: (.*)$/im.exec(head) ?? []
      const { error, meta } = JSON.parse(body.replace(/^[0-9a-f]+\r\n/, '').replace(/\r\n0$/, ''))
      assert.match(textIn(error, 'code'), /^(invalid_request|unauthorized)$/)
      assert.equal(textIn(meta, 'requestId'), id.trim())
    })
  }

  test('it forwards every path to Lethe', { skip }, async () => {
    const { shop, proxy } = await shared()
    for (const path of ['/nginx/refused', '/nginx/unreachable', '/nginx/', '/haproxy', '/caddy/%2e%2e']) {
      errorOf(await proxy.ask(path), 'unauthorized')
      errorOf(await proxy.ask(path, { key: shop.key }), 'not_found')
    }
  })

  test('it passes compressed responses through, streamed or not', { skip }, async () => {
    const { shop, proxy } = await shared()
    await shop.ingest(visit('anna', { events: 40 }))
    for (const path of [`${subjectPath('anna')}/events`, `${subjectPath('anna')}/export`]) {
      const headers = {
        'Accept-Encoding': 'gzip',
        Authorization: `Bearer ${shop.key}`,
        Host: 'lethe.example',
      }
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const answer = await proxy.send(`GET ${path} HTTP/1.1\r\n${lines.join('')}Connection: close\r\n\r\n`)
      const [head = ''] = answer.split('\r\n\r\n')
      assert.match(head, /^HTTP\/1\.1 200 /, path)
      assert.deepEqual(
        head.match(/^content-encoding: .*$/gim)?.map((line) => line.trim().toLowerCase()),
        ['content-encoding: gzip'],
      )
      assert.match(head, /^vary: accept-encoding/im)
    }
  })

  test('it supports a request of a person up to its certificate, and passes the ZIP file through unchanged', {
    skip,
  }, async () => {
    const { shop, proxy } = await shared()
    const { key } = shop
    const value = 'ada+shop@example.com'
    await shop.ingest(visit('ada', { events: 2_000, identifiers: { email: value } }))
    const requests = '/v1/analytics/requests'
    const post = async (path: string, body: object = {}) =>
      dataOf(
        await proxy.askHttp2(path, {
          ...{ method: 'POST', key, headers: { 'content-type': 'application/json' } },
          body: JSON.stringify(body),
        }),
      )
    const person = { identifiers: [{ name: 'email', value }], subjects: [] }
    const { requestId } = await post(requests, { kind: 'erasure', person, reference: 'Ticket 7' })
    const path = `${requests}/${requestId}`
    const page = dataOf(await proxy.ask(`${requests}?state=open&kind=erasure`, { key }))
    assert.deepEqual(
      listIn(page, 'requests').map((each) => textIn(each, 'requestId')),
      [requestId],
    )
    const headers = `Host: lethe.example\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`
    const answer = await proxy.send(`GET ${path}/export HTTP/1.1\r\n${headers}\r\n`)
    const end = answer.indexOf('\r\n\r\n')
    assert.match(answer.slice(0, end), /^content-disposition: attachment; filename="/im)
    const zip = Buffer.from(unchunked(answer.slice(end + 4)), 'latin1')
    const names = readZip(zip).map(({ name }) => name)
    assert.ok(names.includes('index.html') && names.length > 2, names.join())
    await post(`${path}/extend`, { reason: 'Many systems' })
    await post(`${path}/erase`)
    await until(async () => dataOf(await proxy.ask(path, { key })).state === 'done')
    const certificate = dataOf(await proxy.askHttp2(`${path}/certificate`, { key }))
    assert.partialDeepStrictEqual(certificate, { requestId, reference: 'Ticket 7', complete: true })
    assert.equal(listIn(certificate, 'entries').length, 1)
  })

  test('it keeps its connections to the service open', { skip }, async (t) => {
    let connections = 0
    const upstream = createServer((_request, response) => response.end('{}'))
    upstream.on('connection', () => connections++)
    t.after(() => {
      upstream.close()
      upstream.closeAllConnections()
    })
    const proxy = await open(t, await listen(upstream))
    for (let i = 0; i < 10; i++) assert.equal((await proxy.ask('/')).status, 200)
    assert.equal(connections, 1)
  })

  test('it logs no ID, key or address, even for failed requests', { skip }, async (t) => {
    const { shop, proxy } = await startBehind(t)
    const { key } = shop
    const targets = [
      subjectPath('subject-marker', 'tracker-marker'),
      `${subjectsPath}?subjectIdPrefix=prefix-marker`,
      `/path-marker/%zz`,
      `/path-marker/%00`,
      `/path-marker/${'x'.repeat(20_000)}`,
    ]
    const headers = { Referer: `https://x.example/${targets[0]}`, 'X-Request-Id': key }
    const askAll = async () => {
      for (const target of targets) {
        await proxy.ask(target, { key, headers, from: '127.0.0.9' })
        await proxy.ask(target, { key, headers: { ...headers, 'X-Request-Id': 'find id-marker' } })
        // A server that refuses a body may close the connection before its end.
        const body = 'body-marker'.repeat(7_000)
        await proxy.ask(target, { key, headers, method: 'DELETE', body }).catch(() => {})
      }
    }
    await askAll()
    await shop.stop()
    await askAll()
    await proxy.stop()
    const logged = proxy.logged()
    assert.doesNotMatch(logged, /marker/)
    assert.doesNotMatch(logged, /127\.0\.0\.9/)
    assert.ok(!logged.includes(key.slice(-38)), 'the key was logged')
  })
}

/** The body of a response without chunk sizes, with one character per byte. */
function unchunked(body: string): string {
  let content = ''
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.slice(at, lineEnd), 16)
    if (!(size > 0)) return content
    content += body.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 2 + size + 2
  }
}
