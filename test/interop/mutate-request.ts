import type { SeededRandom } from '../support/seeded-random.ts'

const target = '/healthz'

const line = (method: string, version = '1.1', to = target) =>
  `${method} ${to} HTTP/${version}\r\nHost: lethe.example\r\n`

/** Valid requests of many kinds. */
export const goodRequests = [
  `${line('GET')}\r\n`,
  `${line('GET', '1.0')}\r\n`,
  `${line('HEAD')}\r\n`,
  `${line('OPTIONS')}\r\n`,
  `${line('DELETE')}Content-Length: 0\r\n\r\n`,
  `${line('GET')}Content-Length: 5\r\n\r\nhello`,
  `${line('GET')}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `${line('PUT')}Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n3\r\nyou\r\n0\r\nX-Trailer: a\r\n\r\n`,
  `${line('GET')}Connection: close\r\n\r\n`,
  `${line('GET')}Connection: keep-alive\r\nAccept: */*\r\nX-Odd: a,b; c="d"\r\nCookie: a=b\r\n\r\n`,
  `${line('GET', '1.1', `http://lethe.example${target}`)}\r\n`,
  `${line('GET', '1.1', `${target}?a=b&c=%41`)}\r\n`,
  `${line('POST')}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
  `${line('GET')}Content-Length: 5\r\n\r\nhello${line('GET')}\r\n`,
  `${line('GET')}\r\n${line('HEAD')}\r\n`,
]

const bytes = [
  ...['\0', '\t', '\n', '\r', '\r\n', ' ', '  ', '\v', '\f', '\x1b', '\x7f', '\x80', '\xa0', '\xff'],
  ...[
    ...['!', '"', '#', '%', '&', "'", '(', ',', '-', '.', '/', ':', ';', '<', '=', '?', '@', '['],
    ...['\\', '^', '_', '{', '|'],
  ],
  ...['0', '1', '9', 'A', 'Z', 'a', 'x', 'z'],
]

const headerLines = [
  ...[
    ...['Host: other.example', 'Host:', 'Host: a b', 'Host: a/b', 'Host: [::1]:80'],
    ...['host: lethe.example', 'Host : x'],
  ],
  ...[
    'Content-Length: 5',
    'Content-Length: 0',
    'Content-Length: +5',
    'Content-Length: -1',
    'Content-Length: 5, 5',
  ],
  ...[
    'Content-Length: 0x5',
    'Content-Length: 05',
    'Content-Length: 99999999999999999999',
    'Content-Length: 5 5',
  ],
  ...['Content-Length:', 'Content-Length : 5', 'Content-Length: 4', 'Content-Length: 6', 'content-length: 5'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: identity', 'Transfer-Encoding: gzip, chunked'],
  ...['Transfer-Encoding: chunked, chunked', 'Transfer-Encoding: xchunked', 'Transfer-Encoding:\tchunked'],
  ...['Transfer-Encoding: "chunked"', 'Transfer-Encoding: chunked, identity', 'Transfer-Encoding : chunked'],
  ...['Transfer-Encoding:', 'transfer-encoding: CHUNKED', 'Transfer-Encoding: chunked;a=b'],
  ...[
    ...[' folded: x', '\tfolded', ': nameless', 'X', 'X Y: z', 'X\xff: y', 'X: \xff', 'X-\0: y'],
    ...['X: \0', 'X:\r y', 'X_Y: z'],
  ],
  ...[
    ...['Expect: 100-continue', 'Expect: odd', 'Upgrade: h2c', 'Connection: upgrade'],
    ...['Connection: close, odd', 'TE: trailers'],
  ],
]

const requestLines = [
  ...[
    'GET',
    'GET /',
    `GET ${target}`,
    `GET  ${target} HTTP/1.1`,
    `GET ${target}  HTTP/1.1`,
    `GET\t${target}\tHTTP/1.1`,
  ],
  ...[
    ` GET ${target} HTTP/1.1`,
    `GET ${target} HTTP/1.1 `,
    `GET ${target} http/1.1`,
    `GET ${target} HTTP/1.2`,
  ],
  ...[
    `GET ${target} HTTP/2.0`,
    `GET ${target} HTTP/0.9`,
    `GET ${target} HTTP/11`,
    `GET ${target} HTTP/1.`,
    `GET ${target} HTTP/01.1`,
  ],
  ...[
    `get ${target} HTTP/1.1`,
    `BREW ${target} HTTP/1.1`,
    `G@T ${target} HTTP/1.1`,
    `TRACE ${target} HTTP/1.1`,
    'CONNECT a:1 HTTP/1.1',
  ],
  ...[
    ...['GET * HTTP/1.1', 'OPTIONS * HTTP/1.1', 'GET lethe HTTP/1.1', 'GET http:// HTTP/1.1'],
    ...['GET //a/b HTTP/1.1', 'GET /a#b HTTP/1.1'],
  ],
  ...[
    ...['GET /%zz HTTP/1.1', 'GET /%00 HTTP/1.1', 'GET /../.. HTTP/1.1', 'GET /a\x7fb HTTP/1.1'],
    ...['GET /\xff HTTP/1.1', 'GET /a\\b HTTP/1.1'],
  ],
  ...[
    'GET http://u:p@a/ HTTP/1.1',
    'GET https://a/ HTTP/1.1',
    'GET /?\xff HTTP/1.1',
    'GET /a b HTTP/1.1',
    'GET /"<>^`{|} HTTP/1.1',
  ],
]

type Mutation = (text: string, random: SeededRandom) => string

const mutations: Mutation[] = [
  (text, random) => spliced(text, random.integer(text.length + 1), 0, random.pick(bytes)),
  (text, random) => spliced(text, random.integer(text.length), 1, random.pick(bytes)),
  (text, random) => spliced(text, random.integer(text.length), 1 + random.integer(3), ''),
  (text, random) => withLine(text, random, () => [random.pick(headerLines)]),
  (text, random) => withLine(text, random, () => [random.pick(headerLines)]),
  (text, random) => withLine(text, random, (line) => [line, line].slice(1)),
  (text, random) => text.replace(/^.*?(?=\r\n)/s, random.pick(requestLines)),
  // Another line ending, in one place or everywhere.
  (text, random) =>
    spliced(
      text,
      Math.max(0, text.indexOf('\r\n', random.integer(text.length))),
      2,
      random.pick(['\n', '\r', '\r\r\n', '\n\r']),
    ),
  (text, random) => text.replaceAll('\r\n', random.pick(['\n', '\r'])),
  (text, random) => random.pick(['\r\n', '\n', '\r\n\r\n', ' ', '\0']) + text,
  (text, random) =>
    text.replace(
      /(?<=: )\d+(?=\r\n)|(?<=\n)\d(?=[;\r])/,
      random.pick(['4', '6', '05', '5 ', '+5', '0x5', '5;', 'ffffffffffffffff', '-1', '', '5_0']),
    ),
]

function spliced(text: string, at: number, removed: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at + removed)
}

/** Inserts lines before one of the header lines. */
function withLine(text: string, random: SeededRandom, make: (line: string) => string[]): string {
  const end = text.indexOf('\r\n\r\n')
  const lines = text.slice(0, Math.max(0, end)).split('\r\n')
  const at = 1 + random.integer(lines.length)
  lines.splice(at, 0, ...make(lines[Math.min(at, lines.length - 1)] ?? ''))
  return lines.join('\r\n') + text.slice(Math.max(0, end))
}

/** A request with one or two mutations. */
export function mutatedRequest(random: SeededRandom): string {
  let text = random.pick(goodRequests)
  for (let count = 1 + random.integer(2); count > 0; count--) text = random.pick(mutations)(text, random)
  return text
}
