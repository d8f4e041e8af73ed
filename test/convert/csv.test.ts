import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertRefused } from '../support/command-line.ts'
import { converter, convertFixture, convertSummary, convertToApi, linesOf } from '../support/convert.ts'

const fixture = ['--map', convertFixture('visits.map.json'), convertFixture('visits.csv')]

describe('lethe convert csv', { concurrency: true }, () => {
  it('converts a file with its mapping to subjects in the API', async (t) => {
    const { subjectIds, subject } = await convertToApi(t, 'csv', fixture)
    assert.deepEqual(subjectIds, ['v-ada', 'v-bob'])
    assert.partialDeepStrictEqual(await subject('v-ada'), {
      identifiers: [{ name: 'email', value: 'ada@example.com' }],
      attributes: { country: 'DE', source: 'old shop' },
      sessions: [
        { sessionId: 's-1', startedAt: '2026-10-01T09:00:00.000Z', endedAt: '2026-10-01T09:20:00.000Z' },
      ],
      events: [
        { eventId: 'e-1', name: 'pageview', properties: { page: '/', note: 'She said "hello"\nand left' } },
        {
          eventId: 'e-2',
          occurredAt: '2026-10-01T09:10:00.000Z',
          properties: { page: '/thanks', price: 19.9, member: true },
        },
      ],
    })
    assert.partialDeepStrictEqual(await subject('v-bob'), {
      counts: { sessions: 1, events: 1 },
      events: [{ occurredAt: '2026-10-01T10:00:00.250Z', properties: { page: '/about', member: false } }],
    })
  })

  it('divides events without a session into sessions at pauses of more than 30 minutes', async (t) => {
    const { convert, file } = converter(t)
    const map = file('map', '{"type":{"value":"event"},"subjectId":"v","name":"n","occurredAt":"t"}')
    const times = ['09:00', '09:30', '10:01'].map((time) => `a,go,2026-10-01T${time}:00Z\n`).join('')
    const lines = linesOf(await convert('csv', '--map', map, file('data', `v,n,t\n${times}`)))
    const [one, two, three] = lines.map(({ sessionId }) => sessionId)
    assert.equal(one, two)
    assert.notEqual(two, three)
  })

  it('reads Unix times, any delimiter, CRLF line endings and a byte order mark', async (t) => {
    const { convert, file } = converter(t)
    const map = (unit: string) =>
      `{"type":{"value":"session"},"subjectId":"v","sessionId":"s","startedAt":{"column":"t","as":"${unit}"}}`
    for (const [unit, delimiter, args] of [
      ['seconds', ';', []],
      ['milliseconds', '\t', []],
      ['seconds', '|', ['--delimiter', '|']],
      ['seconds', '\t', ['--delimiter', 'tab']],
    ] as const) {
      const time = unit === 'seconds' ? '1790848800' : '1790848800000'
      const rows = [
        ['v', 's', 't'],
        ['a', '1', time],
      ]
      const text = `\ufeff${rows.map((row) => row.join(delimiter)).join('\r\n')}\r\n`
      const outcome = await convert('csv', '--map', file('map', map(unit)), ...args, file('data', text))
      assert.deepEqual(linesOf(outcome), [
        { type: 'session', subjectId: 'a', sessionId: '1', startedAt: '2026-10-01T10:00:00.000Z' },
      ])
    }
  })
})

describe('a mapping for lethe convert csv', { concurrency: true }, () => {
  const base = { type: { value: 'event' }, subjectId: 'v', name: 'n', occurredAt: 't' }
  const wrong: [unknown, RegExp][] = [
    ['not JSON', /it is not valid JSON/],
    [[], /must be a JSON object/],
    [{ subjectId: 'v' }, /has no "type"/],
    [{ type: { value: 'event' } }, /has no "subjectId"/],
    [{ ...base, occurredAt: undefined }, /has no "occurredAt"/],
    [{ ...base, type: { value: 'session' } }, /has no "sessionId"/],
    [{ ...base, type: { value: 'visit' } }, /"type" .* "session" or "event"/],
    [{ ...base, subject: 'v' }, /unknown field "subject"/],
    [{ ...base, 'properties.': 'v' }, /unknown field "properties\."/],
    [{ ...base, 'identifiers.E-Mail': 'v' }, /a small letter, then/],
    [{ ...base, eventId: { column: 'v', as: 'date' } }, /"as" of "eventId" .* seconds, milliseconds/],
    [{ ...base, eventId: { columns: 'v' } }, /"eventId" in the mapping must be/],
    [{ ...base, eventId: 7 }, /"eventId" in the mapping must be/],
  ]
  for (const [map, reason] of wrong) {
    it(`is rejected as a usage error if it is ${JSON.stringify(map)}`, async (t) => {
      const { convert, file } = converter(t)
      const path = file('map', typeof map === 'string' ? map : JSON.stringify(map))
      assertRefused(await convert('csv', '--map', path, file('data', '')), 2, reason)
    })
  }

  it('is required, and must be readable', async (t) => {
    const { convert, file } = converter(t)
    assertRefused(await convert('csv', file('data', '')), 2, /needs --map/)
    assertRefused(
      await convert('csv', '--map', 'nowhere', file('data', '')),
      1,
      /Cannot read nowhere: ENOENT/,
    )
  })

  it('may name only columns of the file, each once', async (t) => {
    const { convert, file } = converter(t)
    const map = file('map', JSON.stringify(base))
    for (const [header, reason] of [
      ['v,n', /it has no column t; its columns are v, n\./],
      ['v,n,t,n', /it has two columns named "n"/],
      ['"v,n,t', /its first line has a quoted field that never ends/],
    ] as const) {
      const outcome = await convert('csv', '--map', map, '--json', file('data', `${header}\na,b,c\n`))
      assert.equal(outcome.code, 1)
      assert.equal(outcome.stdout, '')
      assert.match(outcome.stderr, reason)
      assert.partialDeepStrictEqual(convertSummary(outcome), { events: 0, error: { code: 'failed' } })
    }
  })
})

describe('a record that lethe convert csv cannot use', { concurrency: true }, () => {
  const map = {
    type: 'k',
    subjectId: 'v',
    sessionId: 's',
    name: 'n',
    occurredAt: 't',
    startedAt: 't',
    endedAt: 'e',
    'properties.p': { column: 'p', as: 'number' },
    'properties.b': { column: 'b', as: 'boolean' },
  }
  const good = 'event,a,1,go,2026-10-01T10:00:00Z,,,'
  const bad: [string, string][] = [
    ['visit,a,1,go,2026-10-01T10:00:00Z,,,', 'type is neither session nor event'],
    ['event,,1,go,2026-10-01T10:00:00Z,,,', 'subjectId is missing'],
    ['event,a,1,go,yesterday,,,', 'occurredAt is not a time'],
    ['event,a,1,go,2026-02-30T10:00:00Z,,,', 'occurredAt is not a time'],
    ['event,a,1,go,,,,', 'occurredAt is missing'],
    ['event,a,1,go,2026-10-01T10:00:00Z,,many,', 'p is not a number'],
    ['event,a,1,go,2026-10-01T10:00:00Z,,1e400,', 'p is not a number'],
    [
      'event,a,1,go,2026-10-01T10:00:00Z,,1234567890123456781,',
      'p is an integer that is too large to be exact; map it as text',
    ],
    ['event,a,1,go,2026-10-01T10:00:00Z,,,maybe', 'b is not a boolean'],
    ['event,a,1,go,2026-10-01T10:00:00Z,', 'has more or fewer fields than the first line'],
    ['event,a,"1"x,go,2026-10-01T10:00:00Z,,,', 'has text after a closing quote'],
    ['session,a,1,,2026-10-01T10:00:00Z,2026-10-01T09:00:00Z,,', 'endedAt lies before startedAt'],
    [
      'event,..,1,go,2026-10-01T10:00:00Z,,,',
      'subjectId must be 1 to 256 characters, no control characters, not "." or ".."',
    ],
    ['event,a,"never closed', 'has a quoted field that never ends, or is too long'],
  ]
  for (const [record, reason] of bad) {
    it(`is reported, and the others are used: ${reason}, as in ${record}`, async (t) => {
      const { convert, file } = converter(t)
      const text = `k,v,s,n,t,e,p,b\n${good}\n${record}\n${good}\n`
      const args = ['--map', file('map', JSON.stringify(map)), '--json', file('data', text)]
      const outcome = await convert('csv', ...args)
      assert.equal(outcome.code, 1)
      assert.deepEqual(convertSummary(outcome), {
        ...{ format: 'csv', records: 3, unusable: 1, skipped: 0, sessions: 0, events: 2 },
        reasons: [{ reason, records: 1, first: { file: args.at(-1), number: 3 } }],
      })
    })
  }
})
