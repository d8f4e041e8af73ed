import { METHODS } from 'node:http'
import fc from 'fast-check'
import type { Lines } from './surface.ts'

const words = (text: string) => text.trim().split(/\s+/)

/** Ways to encode a text for a URL; all but the last are decoded to the text. */
export const write: fc.Arbitrary<(text: string) => string> = fc.oneof(
  { arbitrary: fc.constant((text: string) => encodeURIComponent(text)), weight: 12 },
  { arbitrary: fc.constant(everyByte), weight: 1 },
  { arbitrary: fc.constant((text: string) => everyByte(text).toLowerCase()), weight: 1 },
  { arbitrary: fc.constant((text: string) => encodeURIComponent(encodeURIComponent(text))), weight: 1 },
)

function everyByte(text: string): string {
  const hex = (byte: number) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`
  return Array.from(Buffer.from(text), hex).join('')
}

/** Invalid encodings: stray percent signs, overlong or truncated UTF-8, surrogates, beyond Unicode. */
const brokenEncodings = words(`
  % %2 %zz %%20 %u0041 %C0%AF %c0%80 %E0%80%AF %F0%80%80%AF %E2%82 %80 %FF %FE%FF
  %ED%A0%80 %ED%BF%BF %F4%90%80%80 %F8%88%80%80%80 %C3%28`)

/** Bytes that are not allowed in a URL. */
const strayBytes = [
  '\u00ff',
  '\u0080',
  '\u00c3\u00a4',
  '\u0000',
  '\t',
  ' ',
  '\u007f',
  ...words('# #x \\ " <> {} | ^ `'),
]

/** A method that the path does not support, or that does not exist. */
export const oddMethod = fc.oneof(
  fc.constantFrom(...METHODS),
  fc.constantFrom(
    ...['get', 'Delete', 'GETT', 'G', '', 'G ET', 'GET\u0000', 'GE\u00ff', 'PRI', 'GET\t'],
    ...['X'.repeat(3_000), '\u0016\u0003\u0001'],
  ),
)

const oddPaths = [
  '',
  ...words(`
    * / // /// ? /? /v1 /v1/ /v2/analytics/trackers/shop/subjects /V1/analytics/trackers/shop/subjects
    /v1/analytics/trackers//subjects /v1/analytics/trackers /v1/analytics/../../etc/passwd /%2e%2e/%2e%2e /.git/config
    http://test/healthz http:// ftp://x/y //evil/healthz healthz evil:443 /healthz/ /HEALTHZ /%68ealthz /healthz;x=1
    /docs /docs/../healthz /metrics
    /console /console/ /console// /console/api /console/api/ /console//api/keys //console/api/keys
    /console/api/keys /console/../v1 /console/api/keys/ /console/api//keys /console/api/./keys /console/api/x/../keys
    /console/api/keys;x /CONSOLE/api/keys /console/API/keys /console/api/%6beys /console%2fapi%2fkeys
    /console/api/keys%00 /console/../v1/analytics/openapi.json /console/assets/
    /console/assets/..%2f..%2fpackage.json /console/%2e%2e/%2e%2e/package.json /console/..\\package.json
    /console/built-from /console/index.html /console/index.html.br /console/assets/%zz /console/%ff
    /console/constructor /console/__proto__ http://test/console/api/keys http://evil.example/console/api/keys
    /console/api/keys?x=1#y /console/api/keys/*/rotate /console/*`),
  ...[`/${'a/'.repeat(3_000)}`, `/${'%41'.repeat(4_000)}`, `/?${'a=1&'.repeat(3_500)}`],
  ...[`/console/${'a/'.repeat(4_000)}`, `/console/api/${'%41'.repeat(3_000)}`],
]

const anyPath = fc
  .string({ unit: 'binary-ascii', maxLength: 60 })
  .map((text) => `/${text.replaceAll(/[\r\n]/g, '')}`)

const strayPiece = fc.constantFrom(...brokenEncodings, ...strayBytes, ...words('/ // /./ /../ ; ? && + ='))

/** A target with another path, an unknown path, or invalid syntax. */
export function oddTarget(usual: string): fc.Arbitrary<string> {
  const broken = fc
    .tuple(fc.nat(usual.length), strayPiece)
    .map(([at, piece]) => usual.slice(0, at) + piece + usual.slice(at))
  return fc.oneof(fc.constantFrom(...oddPaths), broken, broken, anyPath)
}

interface OddHeaders {
  headers: Lines
  bytes: string
}

const lines = (...headers: [name: string, value: string][]): Lines => headers

/** Repeated, contradictory or malformed headers, without a body. */
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

const randomHeaders = fc
  .array(
    fc.tuple(
      fc.string({ unit: fc.constantFrom(...'abcXYZ-_!#$%&0'), minLength: 1, maxLength: 12 }),
      fc.string({ unit: 'binary-ascii', maxLength: 30 }).map((text) => text.replaceAll(/[\r\n]/g, '')),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .filter((headers) => headers.every(([name]) => !/^(content-length|transfer-encoding|host)$/i.test(name)))

const contents = fc.oneof(
  { arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 80 }), weight: 10 },
  {
    arbitrary: fc.constantFrom(
      ...['{"limit":0}', 'limit=0&x=1', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', '\r\n\r\n', '0\r\n\r\n'],
    ),
    weight: 10,
  },
  { arbitrary: fc.constantFrom('x'.repeat(65_536), 'x'.repeat(65_537)), weight: 1 },
)

const contentType = fc.constantFrom(
  ...words('application/json text/plain application/x-www-form-urlencoded multipart/form-data'),
  ...['no type', ''],
)

/** A body with a length or in chunks. */
const withContents = fc.tuple(contents, contentType, fc.boolean(), fc.constantFrom('', ';name=value')).map(
  ([bytes, type, isChunked, extension]): OddHeaders =>
    isChunked
      ? {
          headers: lines(['Content-Type', type], ['Transfer-Encoding', 'chunked']),
          bytes: chunked(bytes, extension),
        }
      : { headers: lines(['Content-Type', type], ['Content-Length', String(bytes.length)]), bytes },
)

/** The bytes of a body in two chunks. */
export function chunked(bytes: string, extension = ''): string {
  const chunks = [bytes.slice(0, 7), bytes.slice(7)].filter((text) => text !== '')
  const written = chunks.map((text) => `${text.length.toString(16)}${extension}\r\n${text}\r\n`)
  return `${written.join('')}0\r\n\r\n`
}

/** Headers that are added to a request, some with a body. */
export const oddHeaders: fc.Arbitrary<OddHeaders> = fc.oneof(
  bare.map((headers) => ({ headers, bytes: '' })),
  randomHeaders.map((headers) => ({ headers, bytes: '' })),
  withContents,
)

/** A body as bytes, one per character, and how it is sent. */
export interface SentBody {
  bytes: string
  type: string | null
  isChunked: boolean
}

const deep = 12_000
const large = fc.constantFrom(
  `{"name":${'['.repeat(deep)}${']'.repeat(deep)}}`,
  `${'{"name":'.repeat(deep / 2)}0${'}'.repeat(deep / 2)}`,
  '['.repeat(60_000),
  `{"name":"${'x'.repeat(65_000)}"}`,
  `{"name":"${'x'.repeat(70_000)}"}`,
  `{${Array.from({ length: 3_000 }, (_, i) => `"f${i}":0`).join(',')}}`,
)
const piece = fc.string({ unit: 'binary-ascii', maxLength: 2 })
const anyBytes = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1'))

const brokenBodies = [
  ...['', ' ', 'null', 'true', '0', '"text"', '[]', '{', '}', '{}', '\u00ff', '{"name":"\u00ff"}'],
  ...['{"name":"\u00c0\u00af"}', '{"name":"\u00ed\u00a0\u0080"}', '{"name":"\\ud800"}', '{"name":1e999}'],
  ...['{"name":-0}', '{"name":NaN}', '{"name":"\u0000"}', '{"name":"\\u0000"}', '{"name":"\\x"}'],
  ...['{"__proto__":{"name":"x"}}', '{"__proto__":null}', '{"constructor":{"prototype":{}}}', '{"":""}'],
  ...['{"name":"a","name":"b"}', '{"name":"a","name":null}', '{"token":"a","token":["b"]}'],
  ...['name=a&scopes=analytics:view', '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\na\r\n--x--'],
]

/** Bodies that are not a JSON object, or barely one. */
function malformed(json: string): fc.Arbitrary<string> {
  const utf16 = Buffer.from(json, 'utf16le').toString('latin1')
  return fc.oneof(
    fc.constantFrom(
      ...brokenBodies,
      ...[`[${json}]`, `${json}${json}`, `${json},`, `\u00ef\u00bb\u00bf${json}`, `/* */${json}`],
      ...[utf16, `\u00ff\u00fe${utf16}`, json.replaceAll('"', "'")],
    ),
    large,
    fc.nat(json.length).map((length) => json.slice(0, length)),
    fc.tuple(fc.nat(json.length), piece).map(([at, put]) => json.slice(0, at) + put + json.slice(at)),
    anyBytes,
  )
}

const jsonOrOddType = fc.oneof(
  { arbitrary: fc.constant('application/json'), weight: 4 },
  fc.constantFrom(
    ...words(
      'application/json;charset=utf-8 APPLICATION/JSON application/json; text/plain multipart/form-data',
    ),
    ...words('application/x-www-form-urlencoded application/jsonp application/json-seq'),
    ...['application/json; charset=utf-16', 'text/plain; application/json', 'application/json garbage', ''],
    ...[
      'application/json, text/plain',
      '\u00ff',
      'application/x-application/json',
      ' application/json',
      null,
    ],
  ),
)

/** A body with invalid bytes or an odd type; some are sent in chunks. */
export function oddBody(json: string): fc.Arbitrary<SentBody> {
  return fc.record({
    bytes: fc.oneof({ arbitrary: fc.constant(json), weight: 1 }, { arbitrary: malformed(json), weight: 3 }),
    type: jsonOrOddType,
    isChunked: fc.boolean(),
  })
}
