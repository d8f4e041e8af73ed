import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { formatInstant } from '../../src/domain/instant.ts'
import { comparableAnswer, dataOf, errorOf } from '../support/answers.ts'
import { anHourAgo, startShop, subjectPath, visit } from '../support/shop.ts'
import { eraseIn } from '../support/test-keyring.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { key } = shop

describe('reading a subject', () => {
  test('returns its record with the attributes of its newest session', async () => {
    await shop.ingest([
      ...visit('anna', { sessionId: 's1', events: 3, attributes: { country: 'DE', browser: 'Firefox' } }),
      ...visit('anna', {
        sessionId: 's2',
        startedAt: anHourAgo + 60_000,
        events: 2,
        attributes: { country: 'FR', os: 'Linux' },
      }),
    ])
    assert.deepEqual(dataOf(await shop.ask(subjectPath('anna'), { key })), {
      trackerId: 'shop',
      subjectId: 'anna',
      firstSeenAt: formatInstant(anHourAgo),
      lastSeenAt: formatInstant(anHourAgo + 61_000),
      counts: { sessions: 2, events: 5 },
      identifiers: [],
      attributes: { country: 'FR', os: 'Linux' },
    })
  })

  test('returns attributes exactly as they were collected', async () => {
    const attributes = {
      country: 'DE',
      screen: { width: 1280, height: 720.5, ratios: [1, 2.5, -1e-7, 1e21] },
      consent: null,
      isBot: false,
      referrer: '',
      'odd "name" \u{1f600}': 'odd \\ value \u2028 </script>',
      toJSON: 'not a function',
      empty: [[], {}],
      constructor: 'a word',
    }
    await shop.ingest(visit('berta', { attributes }))
    assert.deepEqual(dataOf(await shop.ask(subjectPath('berta'), { key })).attributes, attributes)
  })

  test('returns data that was collected just before', async () => {
    await shop.ingest(visit('clara', { events: 1 }))
    assert.deepEqual(dataOf(await shop.ask(subjectPath('clara'), { key })).counts, { sessions: 1, events: 1 })
    await shop.ingest(visit('clara', { sessionId: 's2', events: 4 }))
    assert.deepEqual(dataOf(await shop.ask(subjectPath('clara'), { key })).counts, { sessions: 2, events: 5 })
  })

  test('returns 404 for an unknown subject, an erased one and an unknown tracker', async () => {
    await shop.ingest(visit('dora'))
    await eraseIn(shop.services, shop.view, 'dora')
    const answers = [
      await shop.ask(subjectPath('nobody'), { key }),
      await shop.ask(subjectPath('dora'), { key }),
      await shop.ask(subjectPath('anna', 'nowhere'), { key }),
    ]
    for (const answer of answers) {
      errorOf(answer, 'not_found')
      assert.deepEqual(
        comparableAnswer(answer),
        comparableAnswer(await shop.ask(subjectPath('nobody'), { key })),
      )
    }
  })

  test('distinguishes IDs that look alike', async () => {
    await shop.ingest(visit('Emma'))
    for (const id of ['emma', 'Emma ', ' Emma', 'Emma/', 'Emm', 'Emm%61', '\u0395mma']) {
      errorOf(await shop.ask(subjectPath(id), { key }), 'not_found')
    }
  })
})
