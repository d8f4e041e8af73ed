import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { formatInstant } from '../../src/domain/instant.ts'
import { dataOf, errorOf, listIn, pagesOf, textIn } from '../support/answers.ts'
import { anHourAgo, startShop, subjectPath, visit } from '../support/shop.ts'
import { eraseIn } from '../support/test-keyring.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { key } = shop
const path = `${subjectPath('anna')}/sessions`
await shop.ingest([
  ...visit('anna', { sessionId: 'first', events: 2, attributes: { country: 'DE' } }),
  ...visit('anna', { sessionId: 'tie-1', startedAt: anHourAgo + 60_000, events: 0 }),
  ...visit('anna', { sessionId: 'tie-2', startedAt: anHourAgo + 60_000, events: 0 }),
  ...visit('anna', { sessionId: 'tie-3', startedAt: anHourAgo + 60_000, events: 0 }),
  ...visit('anna', { sessionId: 'last', startedAt: anHourAgo + 120_000, events: 4, attributes: { a: [{}] } }),
  ...visit('berta', { sessionId: 'other' }),
])

describe("the list of a subject's sessions", () => {
  test('has the ID, period, event count and attributes of each session', async () => {
    const sessions = listIn(dataOf(await shop.ask(path, { key })), 'sessions')
    assert.deepEqual(
      [sessions.at(0), sessions.at(-1)],
      [
        {
          sessionId: 'last',
          startedAt: formatInstant(anHourAgo + 120_000),
          endedAt: formatInstant(anHourAgo + 123_000),
          counts: { events: 4 },
          attributes: { a: [{}] },
        },
        {
          sessionId: 'first',
          startedAt: formatInstant(anHourAgo),
          endedAt: formatInstant(anHourAgo + 1_000),
          counts: { events: 2 },
          attributes: { country: 'DE' },
        },
      ],
    )
  })

  test('is newest first and complete for any page size', async () => {
    for (const limit of ['1', '2', '3', '5', '200']) {
      const ids: string[] = []
      for await (const page of pagesOf((after) =>
        shop.ask(`${path}?${new URLSearchParams({ limit, ...after })}`, { key }),
      ))
        ids.push(...listIn(page, 'sessions').map((session) => textIn(session, 'sessionId')))
      assert.equal(ids.at(0), 'last')
      assert.equal(ids.at(-1), 'first')
      assert.deepEqual(ids.toSorted(), ['first', 'last', 'tie-1', 'tie-2', 'tie-3'])
    }
  })

  test('returns 404 for a subject that the API does not return', async () => {
    errorOf(await shop.ask(`${subjectPath('nobody')}/sessions`, { key }), 'not_found')
    errorOf(await shop.ask(`${subjectPath('anna', 'nowhere')}/sessions`, { key }), 'not_found')
    await shop.ingest(visit('clara'))
    await eraseIn(shop.services, shop.view, 'clara')
    errorOf(await shop.ask(`${subjectPath('clara')}/sessions`, { key }), 'not_found')
  })
})
