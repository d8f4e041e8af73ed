import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  callApi,
  commandLine,
  jsonLines,
  onlyJson,
  programPath,
  sourcePath,
  startServe,
  textOf,
} from '../support/command-line.ts'
import { emptyStore } from '../support/empty-store.ts'
import { inReverse } from '../support/in-reverse.ts'

const visits = [
  {
    type: 'session',
    subjectId: 'anna@shop/1 ü',
    sessionId: 's1',
    minutesAgo: 60,
    attributes: { country: 'DE' },
  },
  { type: 'event', subjectId: 'anna@shop/1 ü', sessionId: 's1', minutesAgo: 60, name: 'pageview' },
  { type: 'event', subjectId: 'anna@shop/1 ü', sessionId: 's1', minutesAgo: 59, name: 'purchase' },
  { type: 'event', subjectId: 'anna@shop/1 ü', sessionId: 's2', minutesAgo: 10, name: 'pageview' },
  { type: 'event', subjectId: 'bert', sessionId: 's3', minutesAgo: 5, name: 'pageview' },
]

/** The visits as lines to import, without a tracker. */
function ndjson(now: number): string {
  return visits
    .map(({ minutesAgo, ...fields }) => {
      const at = new Date(now - minutesAgo * 60_000).toISOString()
      const time = fields.type === 'session' ? { startedAt: at, endedAt: at } : { occurredAt: at }
      return JSON.stringify({ ...fields, ...time })
    })
    .join('\n')
}

/** The items of a list in a response. */
function items(data: Record<string, unknown>, plural: string): Record<string, unknown>[] {
  const list = data[plural]
  assert.ok(Array.isArray(list), `no ${plural}`)
  return list
}

describe('Lethe from outside', () => {
  it('is set up, filled, read and erased with its commands and API only', async (t) => {
    const lifetime = inReverse(t)
    const store = await emptyStore(lifetime)
    const cli = commandLine(lifetime, store)
    // A clone runs its sources, which one test covers with the server on the embedded store.
    const clone = commandLine(lifetime, store, store.startsWith('sqlite:') ? sourcePath : programPath)
    const server = await startServe(clone)

    // The import is a separate process, which covers the start of a command; the others run in this process.
    const organisation = onlyJson(
      await cli.run(['orgs', 'create', '--name', 'Acme', '--plan', 'pro', '--json']),
    )
    const org = ['--org', textOf(organisation, 'id'), '--json']
    const scopes = ['--scope', 'analytics:view', '--scope', 'analytics:delete-data']
    const trackerId = textOf(onlyJson(await cli.run(['trackers', 'create', ...org, '--name', 'Shop'])), 'id')
    const issued = await cli.run(['keys', 'create', ...org, '--name', 'all', ...scopes])
    const key = textOf(onlyJson(issued), 'key')
    const imported = await cli.runProgram(['import', '--tracker', trackerId, '--json', '-'], {
      input: ndjson(Date.now()),
    })
    assert.partialDeepStrictEqual(onlyJson(imported), {
      lines: 5,
      badLines: 0,
      subjects: 2,
      sessions: 3,
      events: 4,
    })

    const subjects = `${server.url}/v1/analytics/trackers/${trackerId}/subjects`
    const anna = `${subjects}/${encodeURIComponent('anna@shop/1 ü')}`
    const call = async (url: string, method?: string) => {
      const { status, data } = await callApi(url, key, method)
      assert.equal(status, 200, url)
      return data
    }
    const listed = items(await call(subjects), 'subjects').map(({ subjectId, counts }) => ({
      subjectId,
      counts,
    }))
    assert.deepEqual(listed, [
      { subjectId: 'anna@shop/1 ü', counts: { sessions: 2, events: 3 } },
      { subjectId: 'bert', counts: { sessions: 1, events: 1 } },
    ])
    const read = await call(anna)
    assert.partialDeepStrictEqual(read, {
      trackerId,
      subjectId: 'anna@shop/1 ü',
      counts: { sessions: 2, events: 3 },
    })
    const sessions = items(await call(`${anna}/sessions`), 'sessions')
    assert.partialDeepStrictEqual(sessions, [
      { sessionId: 's2', counts: { events: 1 } },
      { sessionId: 's1', counts: { events: 2 }, attributes: { country: 'DE' } },
    ])
    const events = items(await call(`${anna}/events`), 'events')
    assert.deepEqual(
      events.map(({ name, sessionId }) => `${name} in ${sessionId}`),
      ['pageview in s2', 'purchase in s1', 'pageview in s1'],
    )

    const erased = await call(anna, 'DELETE')
    assert.partialDeepStrictEqual(erased, { alreadyErased: false, counts: { sessions: 2, events: 3 } })
    for (const gone of [anna, `${anna}/sessions`, `${anna}/events`]) {
      assert.equal((await callApi(gone, key)).status, 404)
    }
    const again = await call(anna, 'DELETE')
    assert.partialDeepStrictEqual(again, { alreadyErased: true, counts: { sessions: 0, events: 0 } })
    assert.deepEqual(
      items(await call(subjects), 'subjects').map(({ subjectId }) => subjectId),
      ['bert'],
    )

    server.kill('SIGTERM')
    const { code, stdout, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
    const requests = jsonLines(stdout).filter(({ msg }) => msg === 'request')
    assert.equal(requests.length, 10)
    for (const personal of [key.slice(23), 'anna', 'bert']) assert.equal(stdout.includes(personal), false)
  })
})
