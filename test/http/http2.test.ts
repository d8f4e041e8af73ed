import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { budgetOf, errorOf } from '../support/answers.ts'
import { startShop } from '../support/shop.ts'

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const settings = '\0\0\0\x04\0\0\0\0\0'
const shop = await startShop({ after }, { scopes: ['analytics:view'] })

/** Asks as a client does that takes us for a server of HTTP/2. */
async function askHttp2(url: string) {
  const session = connectHttp2(url)
  session.on('error', () => {})
  const wentAway = once(session, 'goaway')
  const request = session.request({ ':path': '/healthz' }).setEncoding('utf8')
  const headers = await new Promise<IncomingHttpHeaders & { ':status'?: number }>((resolve) =>
    request.once('response', resolve),
  )
  let text = ''
  for await (const chunk of request) text += chunk
  const [code] = await wentAway
  session.destroy()
  const { ':status': status = 0, ...rest } = headers
  const pairs = Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)])
  return { code, answer: { status, headers: new Headers(pairs), body: JSON.parse(text) } }
}

/** All that comes back until the server closes. */
async function send(bytes: Buffer): Promise<Buffer> {
  const { hostname, port } = new URL(shop.url)
  const socket = connect(Number(port), hostname)
  socket.write(bytes)
  const received: Buffer[] = []
  for await (const chunk of socket) received.push(chunk)
  return Buffer.concat(received)
}

describe('HTTP/2 in the clear', () => {
  test('is refused in HTTP/2: a 400 in the envelope, and the word that HTTP/1.1 is wanted', async () => {
    const { code, answer } = await askHttp2(shop.url)
    assert.match(String(errorOf(answer, 'invalid_request').message), /HTTP\/1\.1/)
    assert.equal(budgetOf(answer).limit, 1_000_000)
    assert.equal(code, 13)
  })

  test('counts against its address', async (t) => {
    const { url } = await startShop(t, { scopes: ['analytics:view'], env: { LETHE_LIMIT_IP: '1/day' } })
    errorOf((await askHttp2(url)).answer, 'invalid_request')
    const { answer } = await askHttp2(url)
    errorOf(answer, 'rate_limited')
    assert.ok(Number(answer.headers.get('retry-after')) > 0)
  })

  test('is told to go away with the reason when its first request comes later', async () => {
    const received = await send(Buffer.from(preface + settings, 'latin1'))
    // Two frames of settings, ours and that theirs were seen; then the one that ends it, about no stream.
    assert.deepEqual([...received.subarray(0, 18)], [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0])
    assert.deepEqual([received[21], ...received.subarray(27, 35)], [7, 0, 0, 0, 0, 0, 0, 0, 13])
    assert.match(received.subarray(35).toString(), /^\{"error":\{"code":"invalid_request"/)
  })

  test('is answered whatever comes behind the preface', async () => {
    const noise = fc.uint8Array({ minLength: 1, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(noise, fc.boolean(), async (bytes, hasSettings) => {
        const start = Buffer.from(hasSettings ? preface + settings : preface, 'latin1')
        const received = await send(Buffer.concat([start, bytes]))
        assert.ok(received.includes('"code":"invalid_request"'))
      }),
      { numRuns: 100 },
    )
  })
})
