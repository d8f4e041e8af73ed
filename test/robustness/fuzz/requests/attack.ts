import fc from 'fast-check'

/**
 * Bytes that may or may not be a request, or that end ambiguously. They are sent alone on a connection, which
 * is then closed for sending.
 */
interface Attack {
  text: string
  /** Two parsers could disagree about its end, and one see a second request. It must get one refusal. */
  isAmbiguous: boolean
}

const hidden = 'GET /healthz HTTP/1.1\r\nHost: hidden\r\n\r\n'
const chunked = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`

/** Contradictory headers about a body. */
const framing = fc.constantFrom(
  ['Content-Length: 5', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Content-Length: 5'],
  ['Content-Length: 0', 'Content-Length: 44'],
  ['Content-Length: 44', 'Content-Length: 44'],
  ['Content-Length: 44, 44'],
  ['Content-Length: 4 4'],
  ['Content-Length: +44'],
  ['Content-Length: -1'],
  ['Content-Length: 0x2c'],
  ['Content-Length: 44abc'],
  ['Content-Length: 99999999999999999999999'],
  ['Content-Length : 44'],
  ['Transfer-Encoding : chunked'],
  ['Transfer-Encoding: xchunked'],
  ['Transfer-Encoding: chunked, identity'],
  ['Transfer-Encoding: identity, chunked, identity'],
  ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
  ['Transfer-Encoding:\u000bchunked'],
  ['Transfer-Encoding: "chunked"'],
  ['X: y\rTransfer-Encoding: chunked'],
  ['X: y\nContent-Length: 44'],
  ['X: y\r\n Transfer-Encoding: chunked'],
  ['Transfer-Encoding:', ' chunked'],
  ['Content-\u0000Length: 44'],
)

const ambiguous = fc
  .record({
    lines: framing,
    method: fc.constantFrom('GET', 'DELETE', 'POST'),
    body: fc.constantFrom(chunked, `0\r\n\r\n${hidden}`, hidden),
  })
  .map(
    ({ lines, method, body }): Attack => ({
      text: `${method} /v1/analytics/trackers/shop/subjects/nobody HTTP/1.1\r\nHost: test\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
      isAmbiguous: true,
    }),
  )

/** Malformed chunks after a well-formed request. */
const brokenBody = fc
  .constantFrom(
    ...[
      ...['zz\r\nab\r\n0\r\n\r\n', '-1\r\n\r\n', 'fffffffffffffffff\r\n', '5\r\nab', '2\nab\n0\n\n'],
      ...['2\r\nabc\r\n0\r\n\r\n', '0\r\n', ''],
    ],
    ...[
      '2;\u0000\r\nab\r\n0\r\n\r\n',
      '2 \r\nab\r\n0\r\n\r\n',
      '0x2\r\nab\r\n0\r\n\r\n',
      `2;${'x'.repeat(20_000)}\r\nab\r\n`,
      '0\r\nContent-Length: 5\r\n\r\n',
      '0\r\nbad trailer\r\n\r\n',
    ],
  )
  .map(
    (body): Attack => ({
      text: `DELETE /v1/analytics/trackers/shop/subjects/nobody HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
      isAmbiguous: false,
    }),
  )

const whole =
  'GET /v1/analytics/trackers/shop/subjects HTTP/1.1\r\nHost: test\r\nX-Request-Id: mine\r\nAccept: */*\r\n\r\n'

/** A request with some bytes replaced, removed or added. */
const damaged = fc
  .array(
    fc.record({
      at: fc.nat(whole.length),
      cut: fc.nat(3),
      put: fc.oneof(
        fc.string({ unit: 'binary-ascii', maxLength: 3 }),
        fc.constantFrom('\r', '\n', '\r\n', '\u0000', ' ', '\t', ':', '\u00ff'),
      ),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map(
    (changes): Attack => ({
      text: changes.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), whole),
      isAmbiguous: false,
    }),
  )

const garbage = fc
  .uint8Array({ minLength: 1, maxLength: 200 })
  .map((bytes): Attack => ({ text: Buffer.from(bytes).toString('latin1'), isAmbiguous: false }))

export const attack: fc.Arbitrary<Attack> = fc.oneof(ambiguous, brokenBody, damaged, damaged, garbage)
