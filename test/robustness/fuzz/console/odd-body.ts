import fc from 'fast-check'

/** A body as its bytes, one for each character, and how it is sent. */
export interface SentBody {
  bytes: string
  type: string | null
  isChunked: boolean
}

/** The bytes of a text in UTF-8. What UTF-8 cannot say must have been escaped. */
export function utf8(text: string): string {
  return Buffer.from(text).toString('latin1')
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

/** Bodies that are no JSON object, or hardly one, whatever their fields. */
function spoilt(json: string): fc.Arbitrary<string> {
  const utf16 = Buffer.from(json, 'utf16le').toString('latin1')
  return fc.oneof(
    fc.constantFrom(
      ...[
        '',
        ' ',
        'null',
        'true',
        '0',
        '"text"',
        '[]',
        `[${json}]`,
        '{',
        '}',
        '{}',
        `${json}${json}`,
        `${json},`,
      ],
      ...[
        `\u00ef\u00bb\u00bf${json}`,
        utf16,
        `\u00ff\u00fe${utf16}`,
        json.replaceAll('"', "'"),
        `/* */${json}`,
      ],
      ...[
        '\u00ff',
        '{"name":"\u00ff"}',
        '{"name":"\u00c0\u00af"}',
        '{"name":"\u00ed\u00a0\u0080"}',
        '{"name":"\\ud800"}',
      ],
      ...[
        '{"name":1e999}',
        '{"name":-0}',
        '{"name":NaN}',
        '{"name":"\u0000"}',
        '{"name":"\\u0000"}',
        '{"name":"\\x"}',
      ],
      ...['{"__proto__":{"name":"x"}}', '{"__proto__":null}', '{"constructor":{"prototype":{}}}', '{"":""}'],
      ...['{"name":"a","name":"b"}', '{"name":"a","name":null}', '{"token":"a","token":["b"]}'],
      ...[
        'name=a&scopes=analytics:view',
        '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\na\r\n--x--',
      ],
    ),
    large,
    fc.nat(json.length).map((length) => json.slice(0, length)),
    fc.tuple(fc.nat(json.length), piece).map(([at, put]) => json.slice(0, at) + put + json.slice(at)),
    anyBytes,
  )
}

const type = fc.oneof(
  { arbitrary: fc.constant('application/json'), weight: 4 },
  fc.constantFrom(
    ...[
      'application/json;charset=utf-8',
      'application/json; charset=utf-16',
      'APPLICATION/JSON',
      'application/json;',
    ],
    ...[
      'text/plain',
      'text/plain; application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      '',
    ],
    ...[
      'application/jsonp',
      'application/json-seq',
      'application/json garbage',
      'application/json, text/plain',
      '\u00ff',
    ],
    ...['application/x-application/json', ' application/json', null],
  ),
)

/** A body with something wrong about its bytes, its type or both; some of them come in pieces. */
export function oddBody(json: string): fc.Arbitrary<SentBody> {
  return fc.record({
    bytes: fc.oneof({ arbitrary: fc.constant(json), weight: 1 }, { arbitrary: spoilt(json), weight: 3 }),
    type,
    isChunked: fc.boolean(),
  })
}
