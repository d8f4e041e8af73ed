import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { encodeCursor } from '../../src/domain/page.ts'
import { dataOf, listIn, problemFields, textIn } from '../support/answers.ts'
import { anHourAgo, startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { key } = shop
await shop.createTracker(shop.organisationId, 'blog')
for (const trackerId of ['shop', 'blog']) {
  for (const subjectId of ['anna', 'berta', 'clara']) {
    const at = { trackerId, events: 3 }
    await shop.ingest([
      ...visit(subjectId, { ...at, sessionId: 's1' }),
      ...visit(subjectId, { ...at, sessionId: 's2', startedAt: anHourAgo + 60_000 }),
    ])
  }
}

const eraser = (await shop.createKey(shop.organisationId, ['analytics:delete-data'])).keyString
for (const subjectId of ['erased', 'gone', 'erased', 'gone'])
  await shop.ask(subjectPath(subjectId), { key: eraser, method: 'DELETE' })

const withLimit = (list: string) => `${list}${list.includes('?') ? '&' : '?'}limit=1`
const firstPage = async (list: string) => dataOf(await shop.ask(withLimit(list), { key }))
const cursorOf = async (list: string) => textIn(await firstPage(list), 'nextCursor')
const goOn = (list: string, cursor: string) =>
  shop.ask(`${withLimit(list)}&cursor=${encodeURIComponent(cursor)}`, { key })

const after2020 = 'lastSeenAfter=2020-01-01T00:00:00Z'
const lists = [
  subjectsPath,
  `${subjectsPath}?sort=lastSeenAt`,
  `${subjectsPath}?sort=-lastSeenAt`,
  `${subjectsPath}?${after2020}`,
  `${subjectsPath}?${after2020}&sort=-lastSeenAt`,
  `${subjectsPath}?lastSeenAfter=2020-01-02T00:00:00Z`,
  `${subjectsPath}?${after2020}&lastSeenBefore=2099-01-01T00:00:00Z`,
  `${subjectsPath}?lastSeenBefore=2099-01-01T00:00:00Z`,
  '/v1/analytics/trackers/blog/subjects',
  `${subjectPath('anna')}/sessions`,
  `${subjectPath('berta')}/sessions`,
  `${subjectPath('anna', 'blog')}/sessions`,
  `${subjectPath('anna')}/events`,
  `${subjectPath('anna')}/events?sessionId=s1`,
  `${subjectPath('anna')}/events?sessionId=s2`,
  `${subjectPath('berta')}/events`,
  `${subjectPath('anna', 'blog')}/events`,
  `${subjectPath('erased')}/receipts`,
  `${subjectPath('gone')}/receipts`,
  '/v1/analytics/ledger/entries',
]

describe('a cursor', () => {
  for (const [place, list] of lists.entries()) {
    test(`is valid for its own list only: ${list}`, async () => {
      const cursor = await cursorOf(list)
      dataOf(await goOn(list, cursor))
      // The next two lists are the most similar.
      for (const other of lists.slice(place + 1, place + 3)) {
        assert.deepEqual(problemFields(await goOn(other, cursor)), ['cursor'], other)
      }
    })
  }

  test('is valid for its prefix only', async () => {
    await shop.ingest([...visit('anton'), ...visit('antje')])
    const cursor = await cursorOf(`${subjectsPath}?subjectIdPrefix=an`)
    dataOf(await goOn(`${subjectsPath}?subjectIdPrefix=an`, cursor))
    for (const query of ['?subjectIdPrefix=a', '?subjectIdPrefix=ant', '']) {
      assert.deepEqual(problemFields(await goOn(subjectsPath + query, cursor)), ['cursor'])
    }
  })

  test('is valid whether the default sort is given or omitted', async () => {
    const cursor = await cursorOf(subjectsPath)
    dataOf(await goOn(`${subjectsPath}?sort=subjectId`, cursor))
    const filtered = await cursorOf(`${subjectsPath}?${after2020}`)
    dataOf(await goOn(`${subjectsPath}?sort=lastSeenAt&${after2020}`, filtered))
  })

  test('is valid with another limit', async () => {
    const cursor = await cursorOf(subjectsPath)
    const page = dataOf(await shop.ask(`${subjectsPath}?limit=200&cursor=${cursor}`, { key }))
    assert.equal(page.nextCursor, null)
    assert.equal(textIn(listIn(page, 'subjects')[0], 'subjectId'), 'antje')
  })

  const damages: [what: string, damage: (cursor: string) => string][] = [
    ['of another first character', (cursor) => (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1)],
    ['of another last character', (cursor) => cursor.slice(0, -1) + (cursor.endsWith('A') ? 'B' : 'A')],
    ['empty', () => ''],
    ['a word', () => 'next'],
    ['truncated', (cursor) => cursor.slice(0, -1)],
    ['without its first character', (cursor) => cursor.slice(1)],
    ['doubled', (cursor) => cursor + cursor],
    ['longer', (cursor) => `${cursor}A`],
    ['padded', (cursor) => `${cursor}=`],
    ['with a trailing space', (cursor) => `${cursor} `],
    ['in other case', (cursor) => cursor.toLowerCase()],
    ['a number', () => '1'],
    ['null', () => 'null'],
    ['JSON', () => '[1763154235004,"anna"]'],
    ['bytes', () => '\u0000\u0001\u{1f600}'],
    ['endless', () => 'A'.repeat(5_000)],
  ]
  const kinds = [subjectsPath, `${subjectPath('anna')}/sessions`, `${subjectPath('anna')}/events`]
  for (const [i, [what, damage]] of damages.entries()) {
    test(`returns 422 on cursor if it is ${what}`, async () => {
      const list = kinds[i % kinds.length] ?? subjectsPath
      assert.deepEqual(problemFields(await goOn(list, damage(await cursorOf(list)))), ['cursor'])
    })
  }

  test('returns 422 on cursor if it was forged with an impossible ID', async () => {
    const identities: [list: string, identity: (string | null)[]][] = [
      [subjectsPath, ['subjects', 'shop', 'subjectId', null, null, null]],
      [`${subjectPath('anna')}/sessions`, ['sessions', 'shop', 'anna']],
      [`${subjectPath('anna')}/events`, ['events', 'shop', 'anna', null]],
      [`${subjectPath('erased')}/receipts`, ['receipts', 'shop', 'erased']],
      ['/v1/analytics/ledger/entries', ['entries']],
    ]
    for (const [list, identity] of identities) {
      dataOf(await goOn(list, encodeCursor(identity, 0, 'anna')))
      for (const id of ['a\u0000b', '\ud800', '', 'x'.repeat(257)]) {
        const forged = encodeCursor(identity, 0, id)
        assert.deepEqual(problemFields(await goOn(list, forged)), ['cursor'], JSON.stringify(id))
      }
    }
  })

  test('needs no encoding in a URL', async () => {
    await shop.ingest([...visit('+/=?&#%\u{1f600}'.repeat(20)), ...visit('zz')])
    let cursor: unknown = await cursorOf(subjectsPath)
    while (typeof cursor === 'string') {
      assert.match(cursor, /^[0-9A-Za-z_.~-]+$/)
      cursor = dataOf(await goOn(subjectsPath, cursor)).nextCursor
    }
  })

  test('continues after its page if the last row has been deleted', async () => {
    const cursor = await cursorOf(subjectsPath)
    const [first] = listIn(await firstPage(subjectsPath), 'subjects')
    dataOf(await shop.ask(subjectPath(textIn(first, 'subjectId')), { key: eraser, method: 'DELETE' }))
    const [next] = listIn(dataOf(await goOn(subjectsPath, cursor)), 'subjects')
    assert.ok(textIn(next, 'subjectId') > textIn(first, 'subjectId'))
  })
})
