import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, listIn, problemFields, textIn } from '../support/answers.ts'
import { askRaw } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { key, url } = shop
const eraser = (await shop.createKey(shop.organisationId, ['analytics:delete-data'])).keyString
await shop.ingest(['anna', 'berta', 'clara'].flatMap((subjectId) => visit(subjectId, { events: 3 })))

const lists = [subjectsPath, `${subjectPath('anna')}/sessions`, `${subjectPath('anna')}/events`]

describe('limit', () => {
  for (const [i, text] of [
    ...['0', '-1', '1.5', '1e2', 'abc', '', '201', '1000000', '99999999999999999999', '+5', '%2B5', '05'],
    ...['0x10', '1_0', '1,0', 'Infinity', 'NaN', 'null', 'true', '5%20', '%205', '5%00', '%EF%BC%95', '1;2'],
  ].entries()) {
    test(`returns 422 for "${text}"`, async () => {
      const list = lists[i % lists.length]
      assert.deepEqual(problemFields(await shop.ask(`${list}?limit=${text}`, { key })), ['limit'])
    })
  }

  test('returns 422 without a value', async () => {
    for (const list of lists) {
      assert.deepEqual(problemFields(await shop.ask(`${list}?limit`, { key })), ['limit'])
    }
  })

  test('returns 422 if it is repeated, with equal or different values, encoded or not', async () => {
    for (const query of ['limit=1&limit=1', 'limit=1&limit=2', 'limit=0&limit=2', 'limit=1&%6Cimit=2']) {
      for (const list of lists) {
        assert.deepEqual(problemFields(await shop.ask(`${list}?${query}`, { key })), ['limit'])
      }
    }
  })

  test('is reported with the rule that it violates', async () => {
    const answer = await shop.ask(`${subjectsPath}?limit=201`, { key })
    const [problem] = listIn(errorOf(answer, 'validation_error'), 'details')
    assert.deepEqual(problem, { field: 'limit', message: 'limit must be a whole number from 1 to 200' })
  })

  test('can be 1 to 200 and defaults to 50', async () => {
    const trackerId = await shop.createTracker(shop.organisationId)
    const numbers = Array.from({ length: 201 }, (_, number) => number)
    await shop.ingest([
      ...numbers.flatMap((number) => visit(`visitor-${number}`, { trackerId })),
      ...numbers.flatMap((number) => visit('frequent', { trackerId, sessionId: `session-${number}` })),
    ])
    const path = subjectPath('frequent', trackerId)
    for (const [list, plural] of [
      [`/v1/analytics/trackers/${trackerId}/subjects`, 'subjects'],
      [`${path}/sessions`, 'sessions'],
      [`${path}/events`, 'events'],
    ] as const) {
      for (const [query, length] of [
        ['', 50],
        ['?', 50],
        ['?limit=1', 1],
        ['?limit=%32', 2],
        ['?limit=50', 50],
        ['?limit=199', 199],
        ['?limit=200', 200],
      ] as const) {
        const data = dataOf(await shop.ask(list + query, { key }))
        assert.equal(listIn(data, plural).length, length, `${list}${query}`)
        assert.equal(typeof data.nextCursor, 'string')
      }
    }
  })
})

describe('an unknown parameter', () => {
  const routes: [method: string, path: string][] = [
    ...lists.map((path): [string, string] => ['GET', path]),
    ['GET', subjectPath('anna')],
    ['DELETE', subjectPath('anna')],
  ]
  for (const [method, path] of routes) {
    test(`returns 422 and is named: ${method} ${path}`, async () => {
      for (const name of [
        ...['Limit', 'lmit', 'limit[]', 'page', '__proto__', 'constructor', 'toString', '', 'a b'],
      ]) {
        const query = new URLSearchParams([[name, '1']])
        const answer = await shop.ask(`${path}?${query}`, { method, key: method === 'GET' ? key : eraser })
        assert.deepEqual(problemFields(answer), [name])
      }
    })
  }

  test('is named once, however often it is repeated', async () => {
    const answer = await shop.ask(`${subjectsPath}?foo=1&foo=2&bar&foo=3`, { key })
    assert.deepEqual(problemFields(answer).sort(), ['bar', 'foo'])
  })

  test('prevents an erasure', async () => {
    const answer = await shop.ask(`${subjectPath('anna')}?dryRun=true`, { method: 'DELETE', key: eraser })
    assert.deepEqual(problemFields(answer), ['dryRun'])
    dataOf(await shop.ask(subjectPath('anna'), { key }))
  })

  test('may be a parameter of another list', async () => {
    for (const [path, name] of [
      [subjectsPath, 'sessionId'],
      [`${subjectPath('anna')}/sessions`, 'sessionId'],
      [`${subjectPath('anna')}/sessions`, 'sort'],
      [`${subjectPath('anna')}/events`, 'subjectIdPrefix'],
      [subjectPath('anna'), 'limit'],
      [subjectPath('anna'), 'cursor'],
    ] as const) {
      assert.deepEqual(problemFields(await shop.ask(`${path}?${name}=s1`, { key })), [name])
    }
  })
})

describe('a repeated parameter', () => {
  for (const query of [
    'cursor=a&cursor=a',
    'sort=subjectId&sort=subjectId',
    'subjectIdPrefix=a&subjectIdPrefix=b',
    'lastSeenAfter=2026-01-01T00:00:00Z&lastSeenAfter=2026-01-01T00:00:00Z',
    'lastSeenBefore=2026-01-01T00:00:00Z&sort=lastSeenAt&lastSeenBefore=2026-01-02T00:00:00Z',
  ]) {
    test(`returns 422 and is named: ${query}`, async () => {
      const name = query.slice(0, query.indexOf('='))
      assert.deepEqual(problemFields(await shop.ask(`${subjectsPath}?${query}`, { key })), [name])
    })
  }

  test('returns 422 on sessionId', async () => {
    const answer = await shop.ask(`${subjectPath('anna')}/events?sessionId=a&sessionId=a`, { key })
    assert.deepEqual(problemFields(answer), ['sessionId'])
  })
})

describe('the problems of a request', () => {
  test('are returned together, one for each field', async () => {
    const query =
      'limit=0&limit=1&cursor=&sort=up&lastSeenAfter=yesterday&lastSeenBefore=&subjectIdPrefix=%00&foo=1'
    const fields = problemFields(await shop.ask(`/v1/analytics/trackers/%00/subjects?${query}`, { key }))
    assert.deepEqual(
      fields.sort(),
      'cursor foo lastSeenAfter lastSeenBefore limit sort subjectIdPrefix trackerId'.split(' '),
    )
  })

  test('are returned for the path and the query of an erasure', async () => {
    const target = '/v1/analytics/trackers/../subjects/%7F?force=1'
    const answer = await askRaw(url, target, { method: 'DELETE', key: eraser })
    assert.deepEqual(problemFields(answer).sort(), ['force', 'subjectId', 'trackerId'])
  })

  test('are named in the message', async () => {
    const answer = await shop.ask(`${subjectPath('anna')}/events?limit=0&sessionId=`, { key })
    const message = textIn(errorOf(answer, 'validation_error'), 'message')
    assert.match(message, /limit/)
    assert.match(message, /sessionId/)
  })

  test('are returned before the tracker is looked up', async () => {
    assert.deepEqual(
      problemFields(await shop.ask('/v1/analytics/trackers/nowhere/subjects?limit=0', { key })),
      ['limit'],
    )
  })

  test('do not include the cursor if a filter is invalid', async () => {
    const filtered = `${subjectPath('anna')}/events?sessionId=s1&limit=1`
    const cursor = textIn(dataOf(await shop.ask(filtered, { key })), 'nextCursor')
    const query = `sessionId=s1&sessionId=s1&limit=1&cursor=${cursor}`
    assert.deepEqual(problemFields(await shop.ask(`${subjectPath('anna')}/events?${query}`, { key })), [
      'sessionId',
    ])
  })

  test('do not include the cursor if the sort is invalid', async () => {
    const cursor = textIn(
      dataOf(await shop.ask(`${subjectsPath}?sort=lastSeenAt&limit=1`, { key })),
      'nextCursor',
    )
    const query = `sort=newest&subjectIdPrefix=zzz&cursor=${cursor}`
    assert.deepEqual(problemFields(await shop.ask(`${subjectsPath}?${query}`, { key })), ['sort'])
  })
})
