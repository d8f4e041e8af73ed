import fc from 'fast-check'
import type { GeneratedRequest } from './generated-request.ts'

type Odd = Pick<GeneratedRequest, 'headers' | 'body'>
type Lines = Odd['headers']

const lines = (...headers: [name: string, value: string][]): Lines => headers

/** Headers that come twice, contradict each other, or are hardly any; without a body. */
const bare = fc.constantFrom<Lines>(
  lines(['Authorization', 'Bearer lethe_x']),
  lines(['Authorization', '']),
  lines(['Authorization', 'Basic dXNlcjpwYXNz']),
  lines(['authorization', 'bearer'], ['AUTHORIZATION', 'Bearer  x']),
  lines(['X-Request-Id', 'one'], ['X-Request-Id', 'two']),
  lines(['X-Request-Id', '']),
  lines(['X-Request-Id', 'x'.repeat(201)]),
  lines(['X-Request-Id', 'tab\tin it']),
  lines(['X-Request-Id', '\u00ff\u0080']),
  lines(['X-Request-Id', '"><script>']),
  lines(['Host', 'one'], ['Host', 'two']),
  lines(['Host', '']),
  lines(['Host', 'a b/@:99999']),
  lines(['Connection', 'close']),
  lines(['Connection', 'upgrade'], ['Upgrade', 'h2c'], ['HTTP2-Settings', 'AAMAAABkAAQAAP__']),
  lines(['Connection', 'Upgrade'], ['Upgrade', 'websocket'], ['Sec-WebSocket-Key', 'AA==']),
  lines(['Connection', 'X-Request-Id, Authorization']),
  lines(['Expect', '100-continue']),
  lines(['Expect', 'a miracle']),
  lines(['Range', 'bytes=0-0'], ['If-None-Match', '*'], ['If-Modified-Since', 'yesterday']),
  lines(['X-HTTP-Method-Override', 'DELETE'], ['X-Method', 'DELETE'], ['X-Original-URL', '/healthz']),
  lines(['X-Forwarded-For', '::1, 999.1.1.1, \u00ff'], ['Forwarded', 'for="[::"']),
  lines(['Accept', 'text/html;q=9'], ['Accept-Encoding', 'gzip, br, *;q=0'], ['Accept-Language', '\u00e4']),
  lines(['Cookie', 'lethe_sign_in=x; =; ;;'], ['Cookie', '\u00ff']),
  lines(['Origin', 'null'], ['Sec-Fetch-Site', 'cross-site'], ['Access-Control-Request-Method', 'DELETE']),
  lines(['X'.repeat(4_000), 'y'.repeat(4_000)]),
  lines(['Big', 'z'.repeat(17_000)]),
  lines(['Na me', 'x']),
  lines(['Name ', 'x']),
  lines(['', 'x']),
  lines(['Nul', 'a\u0000b']),
  lines(['Bell', '\u0007']),
  lines(['Constructor', 'x'], ['__proto__', 'y'], ['toString', 'z']),
  Array.from({ length: 150 }, (_, i): [string, string] => [`Many-${i}`, String(i)]),
)

const madeUp = fc
  .array(
    fc.tuple(
      fc.string({ unit: fc.constantFrom(...'abcXYZ-_!#$%&0'), minLength: 1, maxLength: 12 }),
      fc.string({ unit: 'binary-ascii', maxLength: 30 }).map((text) => text.replaceAll(/[\r\n]/g, '')),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .filter((headers) => headers.every(([name]) => !/^(content-length|transfer-encoding|host)$/i.test(name)))

const bytes = fc.oneof(
  { arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 80 }), weight: 10 },
  {
    arbitrary: fc.constantFrom(
      '{"limit":0}',
      'limit=0&x=1',
      'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
      '\r\n\r\n',
      '0\r\n\r\n',
    ),
    weight: 10,
  },
  { arbitrary: fc.constantFrom('x'.repeat(65_536), 'x'.repeat(65_537)), weight: 1 },
)

const type = fc.constantFrom(
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'no type',
  '',
)

/** A body, of a length that is told or in pieces. */
const withBody = fc
  .tuple(bytes, type, fc.boolean(), fc.constantFrom('', ';name=value'))
  .map(([body, contentType, isChunked, extension]): Odd => {
    if (!isChunked)
      return { headers: lines(['Content-Type', contentType], ['Content-Length', String(body.length)]), body }
    const size = (text: string) => `${text.length.toString(16)}${extension}\r\n`
    const [first, rest] = [body.slice(0, 7), body.slice(7)]
    const chunks = [first, rest].filter((text) => text !== '').map((text) => `${size(text)}${text}\r\n`)
    return {
      headers: lines(['Content-Type', contentType], ['Transfer-Encoding', 'chunked']),
      body: `${chunks.join('')}0\r\n\r\n`,
    }
  })

/** Headers, and with some a body, that a request gets beside its own. */
export const oddHeaders: fc.Arbitrary<Odd> = fc.oneof(
  bare.map((headers) => ({ headers, body: '' })),
  madeUp.map((headers) => ({ headers, body: '' })),
  withBody,
)
