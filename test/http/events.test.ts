import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { formatInstant } from '../../src/domain/instant.ts'
import { dataOf, errorOf, listIn, pagesOf, problemFields, textIn } from '../support/answers.ts'
import { eventRow } from '../support/rows.ts'
import { anHourAgo, startShop, subjectPath, visit } from '../support/shop.ts'
import { eraseIn } from '../support/test-keyring.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { key } = shop
const path = `${subjectPath('anna')}/events`
await shop.ingest([
  ...visit('anna', { sessionId: 's1', events: 3 }),
  // Two overlapping sessions, as on two devices: their events are interleaved.
  ...visit('anna', { sessionId: 's2', startedAt: anHourAgo + 500, events: 3 }),
  ...visit('anna', { sessionId: 's3', startedAt: anHourAgo + 500, events: 1 }),
  ...visit('anna', { sessionId: 'quiet', events: 0 }),
  ...visit('berta', { sessionId: 's1', events: 9 }),
])

async function walk(query: Record<string, string>): Promise<string[]> {
  const ids: string[] = []
  for await (const page of pagesOf((after) =>
    shop.ask(`${path}?${new URLSearchParams({ ...query, ...after })}`, { key }),
  ))
    ids.push(...listIn(page, 'events').map((event) => textIn(event, 'eventId')))
  return ids
}

describe("the list of a subject's events", () => {
  test('has the ID, session, name, time and properties of each event', async () => {
    const data = dataOf(await shop.ask(`${path}?limit=1`, { key }))
    assert.deepEqual(listIn(data, 'events'), [
      {
        eventId: 's2-3',
        sessionId: 's2',
        name: 'pageview',
        occurredAt: formatInstant(anHourAgo + 2_500),
        properties: { number: 2 },
      },
    ])
  })

  test('is newest first and complete for any page size', async () => {
    for (const limit of ['1', '2', '3', '7', '200']) {
      const ids = await walk({ limit })
      assert.deepEqual(ids.slice(0, 4), ['s2-3', 's1-3', 's2-2', 's1-2'])
      assert.deepEqual(ids.slice(4, 6).sort(), ['s2-1', 's3-1'])
      assert.deepEqual(ids.slice(6), ['s1-1'])
    }
  })

  test('has pages of about 1 MiB with any limit', async () => {
    const wide = Array.from({ length: 8 }, (_, number) =>
      eventRow({
        ...{ subjectId: 'wide', eventId: `e${number + 10}`, occurredAt: anHourAgo - number },
        properties: { text: 'x'.repeat(250_000) },
      }),
    )
    await shop.ingest(wide)
    const ids: string[] = []
    for await (const page of pagesOf(async (after) => {
      const query = new URLSearchParams({ limit: '200', ...after })
      const answer = await shop.ask(`${subjectPath('wide')}/events?${query}`, { key })
      assert.ok(Number(answer.headers.get('content-length')) <= 1024 * 1024)
      return answer
    })) {
      assert.equal(listIn(page, 'events').length, 4)
      ids.push(...listIn(page, 'events').map((event) => textIn(event, 'eventId')))
    }
    assert.deepEqual(
      ids,
      wide.map(({ eventId }) => eventId),
    )
  })

  test('can be limited to one session', async () => {
    for (const limit of ['1', '2', '200']) {
      assert.deepEqual(await walk({ sessionId: 's1', limit }), ['s1-3', 's1-2', 's1-1'])
      assert.deepEqual(await walk({ sessionId: 's2', limit }), ['s2-3', 's2-2', 's2-1'])
    }
    assert.deepEqual(await walk({ sessionId: 's3' }), ['s3-1'])
  })

  test('is empty for a session without events and for an unknown session', async () => {
    for (const sessionId of ['quiet', 'nosuch', 'S1', 's']) {
      assert.deepEqual(dataOf(await shop.ask(`${path}?sessionId=${sessionId}`, { key })), {
        events: [],
        nextCursor: null,
      })
    }
  })

  test('returns 422 for an invalid sessionId', async () => {
    for (const sessionId of ['', '%00', '.', '..', 'x'.repeat(257)]) {
      assert.deepEqual(problemFields(await shop.ask(`${path}?sessionId=${sessionId}`, { key })), [
        'sessionId',
      ])
    }
  })

  test('returns properties exactly as they were collected', async () => {
    const properties = {
      url: 'https://shop.example/?q=%20',
      items: [{ id: 1, tags: [] }],
      total: 12.5,
      gift: null,
    }
    await shop.ingest([
      eventRow({ subjectId: 'clara', eventId: 'e/1', sessionId: 's/1', occurredAt: anHourAgo, properties }),
    ])
    const clara = `${subjectPath('clara')}/events?sessionId=${encodeURIComponent('s/1')}`
    assert.partialDeepStrictEqual(listIn(dataOf(await shop.ask(clara, { key })), 'events'), [
      { eventId: 'e/1', sessionId: 's/1', properties },
    ])
  })

  test('returns 404 for a subject that the API does not return', async () => {
    errorOf(await shop.ask(`${subjectPath('nobody')}/events`, { key }), 'not_found')
    errorOf(await shop.ask(`${subjectPath('nobody')}/events?sessionId=s1`, { key }), 'not_found')
    errorOf(await shop.ask(`${subjectPath('anna', 'nowhere')}/events`, { key }), 'not_found')
    await shop.ingest(visit('dora'))
    await eraseIn(shop.services, shop.view, 'dora')
    errorOf(await shop.ask(`${subjectPath('dora')}/events`, { key }), 'not_found')
  })
})
