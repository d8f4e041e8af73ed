import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { splitExport } from '../../client/src/split-export.ts'
import { seededRandom } from '../support/seeded-random.ts'

const odd = { quotes: '"]},{', escaped: '\\"', lists: [[{ events: [1] }], []], 'sessions":[': '"events":[' }
const data = {
  ...{ trackerId: 'shop', subjectId: '"sessions":[', identifiers: [{ name: 'email', value: '"events":[' }] },
  attributes: { sessions: [{ deep: true }], events: [odd] },
}
const sessions = [{ sessionId: 's', attributes: odd }, { sessionId: '🦦' }]
const events = Array.from({ length: 5 }, (_, i) => ({ eventId: `e${i}`, properties: { ...odd, i } }))
const meta = { requestId: 'r' }

async function split(text: string, lengths: () => number) {
  async function* pieces() {
    for (let from = 0; from < text.length; ) {
      const length = lengths()
      yield text.slice(from, from + length)
      from += length
    }
  }
  const parts: { kind: string; value: unknown }[] = []
  for await (const { kind, text } of splitExport(pieces())) parts.push({ kind, value: parse(text) })
  return parts
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return 'no JSON'
  }
}

describe('the JSON of an export, taken apart', () => {
  it('gives the record, the items and the end, wherever its pieces end', async () => {
    const random = seededRandom()
    const text = JSON.stringify({ data: { ...data, sessions, events }, meta })
    const expected = [
      { kind: 'record', value: { data: { ...data, sessions: [] } } },
      ...sessions.map((value) => ({ kind: 'session', value })),
      ...events.map((value) => ({ kind: 'event', value })),
      { kind: 'end', value: { data: { ...data, sessions: [], events: [] }, meta } },
    ]
    const ways = [
      () => 1,
      () => text.length,
      ...Array.from({ length: 20 }, () => () => 1 + random.integer(30)),
    ]
    for (const way of ways)
      assert.deepEqual(await split(text, way), expected, `LETHE_TEST_SEED=${random.seed}`)
  })

  it('has no end that is JSON wherever it breaks off', async () => {
    const text = JSON.stringify({ data: { ...data, sessions, events }, meta })
    for (let length = 0; length < text.length; length++) {
      const parts = await split(text.slice(0, length), () => 50)
      assert.deepEqual(parts.at(-1), { kind: 'end', value: 'no JSON' }, String(length))
    }
  })

  it('has no items where the lists are empty', async () => {
    const text = JSON.stringify({ data: { ...data, sessions: [], events: [] }, meta })
    const parts = await split(text, () => 7)
    assert.deepEqual(
      parts.map(({ kind }) => kind),
      ['record', 'end'],
    )
  })
})
