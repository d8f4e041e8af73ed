import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { buildApp as buildExpress } from '../../examples/track-requests-express.js'
import { buildApp as buildFastify } from '../../examples/track-requests-fastify.js'
import { clientOf } from '../support/client.ts'
import { listen } from '../support/listen.ts'
import { startShop } from '../support/shop.ts'

type Sender = Parameters<typeof buildFastify>[0]

/** A running application: its address and how to stop it. */
interface RunningApp {
  url: string
  close(): Promise<void>
}

async function startExpress(sender: Sender): Promise<RunningApp> {
  const server = createServer(buildExpress(sender))
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await sender.close()
    },
  }
}

async function startFastify(sender: Sender): Promise<RunningApp> {
  const app = buildFastify(sender)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { url, close: () => app.close() }
}

for (const [name, start] of [
  ['express', startExpress],
  ['fastify', startFastify],
] as const) {
  test(`track-requests-${name}.js tracks the requests of a visitor who agreed, without addresses`, async (t) => {
    const shop = await startShop(t, { scopes: ['analytics:collect', 'analytics:view'] })
    const client = clientOf(shop)
    const app = await start(client.sender('shop', { onError: assert.ifError }))
    await (await fetch(`${app.url}/articles/1?email=ada@example.com`)).text()
    const consent = await fetch(`${app.url}/consent`, { method: 'POST' })
    const [cookie = ''] = consent.headers.getSetCookie()
    assert.match(cookie, /^visitor=[0-9a-f-]{36}; Max-Age=15552000; Path=\/;.* HttpOnly; SameSite=Lax$/)
    const headers = { cookie: `theme=dark; ${cookie.split(';')[0]}` }
    assert.equal(
      await (await fetch(`${app.url}/articles/2?email=ada@example.com`, { headers })).text(),
      'Article 2',
    )
    assert.equal((await fetch(`${app.url}/nowhere`, { headers })).status, 404)
    await fetch(`${app.url}/articles/3`, { headers: { cookie: 'visitor=forged' } })
    await app.close()

    const { subjects } = await client.listSubjects('shop').page()
    assert.deepEqual(
      subjects.map(({ subjectId, counts }) => [`visitor=${subjectId}`, counts]),
      [[cookie.split(';')[0], { sessions: 1, events: 2 }]],
    )
    const { events } = await client.listEvents('shop', subjects[0]?.subjectId ?? '').page()
    const seen = events.map(({ name, properties: { durationMs, ...rest } }) => ({ name, ...rest }))
    assert.deepEqual(
      new Set(seen.map((event) => JSON.stringify(event))),
      new Set([
        JSON.stringify({ name: 'request', method: 'GET', route: '/articles/:id', status: 200 }),
        JSON.stringify({ name: 'request', method: 'GET', route: 'unknown', status: 404 }),
      ]),
    )
    assert.ok(!JSON.stringify(events).includes('ada@'))
  })
}
