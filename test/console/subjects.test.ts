import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { eraseAtConsole, eraseWithRequest, openConsole } from '../support/console.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const client = await openConsole(shop, shop.organisationId)
await shop.ingest([
  ...visit('anna', { sessionId: 's1', events: 3, attributes: { country: 'DE' } }),
  ...visit('anna', { sessionId: 's2', events: 450 }),
  ...visit('a/b?c=%20 🦦', { events: 2 }),
  ...visit('ben', { events: 1, identifiers: { email: 'Ben@example.com' } }),
])
const base = '/trackers/shop/subjects'

describe('data subjects in the console', () => {
  test('match the responses of the API', async () => {
    const suffixes = ['', '?limit=1', '?sort=-lastSeenAt', '?subjectIdPrefix=a', '/anna']
    for (const suffix of suffixes) {
      const [here, there] = [
        await client.ask(base + suffix),
        await shop.ask(subjectsPath + suffix, { key: shop.key }),
      ]
      const { personAddress: _, ...data } = dataOf(here)
      assert.deepEqual(data, dataOf(there), suffix)
    }
    assert.deepEqual(problemFields(await client.ask(`${base}?limit=201&what=ever`)), ['limit', 'what'])
    errorOf(await client.ask(`${base}/nobody`), 'not_found')
    errorOf(await client.ask('/trackers/nothing/subjects'), 'not_found')
  })

  test('do not block other requests while many sessions are counted', async (t) => {
    const organisationId = await shop.createOrganisation()
    await shop.createTracker(organisationId, 'aside')
    const member = await openConsole(shop, organisationId)
    const visits = Array.from({ length: 450 }, (_, i) => ({ trackerId: 'aside', sessionId: `s${i}` }))
    await shop.ingest(visits.flatMap((each) => visit('carl', each)))
    const { sessions } = shop.services
    const { list } = sessions
    const turns: number[] = []
    let turn = 0
    const count = () => {
      turn += 1
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    t.after(() => clearImmediate(next))
    t.mock.method(sessions, 'list', (...args: Parameters<typeof list>) => {
      turns.push(turn)
      return list.apply(sessions, args)
    })
    dataOf(await member.ask('/trackers/aside/subjects/carl/days'))
    assert.equal(turns.length, 3)
    assert.equal(new Set(turns).size, 3, turns.join())
  })

  test('are counted by the days on which their sessions started', async () => {
    const { days, hasMore } = objectIn({ of: dataOf(await client.ask(`${base}/anna/days`)) }, 'of')
    assert.equal(hasMore, false)
    assert.ok(Array.isArray(days))
    const sum = (name: string) => days.reduce((total: number, day) => total + Number(day[name]), 0)
    assert.deepEqual([sum('sessions'), sum('events')], [2, 453])
    errorOf(await client.ask(`${base}/nobody/days`), 'not_found')
  })

  test('are counted for each tracker', async () => {
    const [tracker] = listIn(dataOf(await client.ask('/trackers')), 'trackers')
    assert.partialDeepStrictEqual(tracker, { id: 'shop', name: 'shop', subjects: 3, hasMoreSubjects: false })
  })

  test('are exported completely, as a file', async () => {
    const answer = await client.ask(`${base}/anna/export`)
    assert.equal(answer.status, 200)
    const name = 'attachment; filename="shop_anna_9f9bc605.json"'
    assert.equal(answer.headers.get('content-disposition'), name)
    const { sessions, events, ...record } = objectIn({ copy: answer.body }, 'copy')
    assert.deepEqual(record, dataOf(await shop.ask(subjectPath('anna'), { key: shop.key })))
    assert.ok(Array.isArray(sessions) && Array.isArray(events))
    assert.deepEqual([sessions.length, events.length], [2, 453])
    const listed = listIn(
      dataOf(await shop.ask(`${subjectPath('anna')}/sessions`, { key: shop.key })),
      'sessions',
    )
    assert.deepEqual(sessions, listed.reverse())
    assert.equal(
      new Set(events.map((event) => `${textIn(event, 'sessionId')}${textIn(event, 'eventId')}`)).size,
      453,
    )
    errorOf(await client.ask(`${base}/nobody/export`), 'not_found')
  })

  test('are exported to a slow browser without blocking others', async () => {
    // The events span five and a half hours, and the totals do not include tomorrow.
    await shop.ingest(visit('busy', { events: 20_000, startedAt: Date.now() - 25 * 3_600_000 }))
    const response = await fetch(`${shop.url}/console/api${base}/busy/export`, {
      headers: { cookie: client.cookie ?? '' },
    })
    const reader = response.body?.getReader()
    assert.ok(reader)
    await reader.read()
    dataOf(await client.ask(`${base}/anna`))
    let bytes = 0
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      bytes += piece.value.length
    assert.ok(bytes > 1_500_000, `${bytes} bytes`)
    const hasty = await fetch(response.url, { headers: { cookie: client.cookie ?? '' } })
    await hasty.body?.cancel()
    await eraseAtConsole(shop, client, 'busy')
  })

  test('are erased by the exact ID, and the activity has the counts and the request ID', async () => {
    const subjectId = 'a/b?c=%20 🦦'
    const id = encodeURIComponent(subjectId)
    for (const other of ['a/b', 'A/B?C=%20 🦦', 'a%2Fb%3Fc%3D%2520%20%F0%9F%A6%A6']) {
      await eraseWithRequest(shop, client, { subjects: [{ trackerId: 'shop', subjectId: other }] }, 0)
    }
    dataOf(await client.ask(`${base}/${id}`))
    await eraseWithRequest(shop, client, { subjects: [{ trackerId: 'shop', subjectId }] })
    errorOf(await client.ask(`${base}/${id}`), 'not_found')
    errorOf(await shop.ask(`${subjectsPath}/${id}`, { key: shop.key }), 'not_found')
    const [, erased] = listIn(dataOf(await client.ask('/activity')), 'entries')
    assert.partialDeepStrictEqual(erased, {
      ...{ kind: 'subject.erased', target: 'shop', counts: { sessions: 1, events: 2 } },
      actor: { kind: 'member', id: client.member.id },
    })
  })
})

describe('trackers in the console', () => {
  test('are created with a random ID, and renamed', async () => {
    const created = dataOf(await client.ask('/trackers', { method: 'POST', body: { name: 'Blog' } }))
    const id = textIn(created, 'id')
    assert.match(id, /^trk_/)
    assert.deepEqual(
      problemFields(await client.ask('/trackers', { method: 'POST', body: { name: ' ', id: 'mine' } })),
      ['id'],
    )
    assert.deepEqual(problemFields(await client.ask('/trackers', { method: 'POST', body: { name: ' ' } })), [
      'name',
    ])
    const rename = (name: string) => client.ask(`/trackers/${id}/rename`, { method: 'POST', body: { name } })
    assert.deepEqual(problemFields(await rename('')), ['name'])
    dataOf(await rename('Journal'))
    const trackers = listIn(dataOf(await client.ask('/trackers')), 'trackers')
    assert.partialDeepStrictEqual(trackers.at(-1), { id, name: 'Journal', subjects: 0 })
    assert.partialDeepStrictEqual(listIn(dataOf(await client.ask('/activity')), 'entries')[0], {
      ...{ kind: 'tracker.renamed', target: `${id}: Blog → Journal` },
      actor: { kind: 'member', id: client.member.id },
    })
    errorOf(
      await client.ask('/trackers/nothing/rename', { method: 'POST', body: { name: 'x' } }),
      'not_found',
    )
  })

  test('have daily totals, which an erasure does not change', async () => {
    const totals = async () => dataOf(await client.ask('/trackers/shop/totals?days=3'))
    const before = await totals()
    const days = listIn(before, 'days')
    assert.equal(
      days.reduce((sum: number, day) => sum + Number(objectIn({ day }, 'day').events), 0),
      20_456,
    )
    await eraseAtConsole(shop, client, 'ben')
    assert.deepEqual(await totals(), before)
    assert.deepEqual(problemFields(await client.ask('/trackers/shop/totals?days=0')), ['days'])
    errorOf(await client.ask('/trackers/nothing/totals'), 'not_found')
  })
})
