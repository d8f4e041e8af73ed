import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { ConnectionError, LetheClient } from '@lethe/client'
import { fillStore, inStore } from '../../support/filled-store.ts'
import { preparedStore } from '../../support/prepared-store.ts'
import { eventRow } from '../../support/rows.ts'
import { startTestService } from '../../support/service.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { until } from '../../support/until.ts'
import { createKey, startRoomyServer } from './server.ts'

/** More than connections hold: 18 MB, which nothing packs to less than three quarters. */
const eventCount = 6_000

const filled = preparedStore(async ({ storePath }) => {
  const start = Date.now() - 3_600_000
  await fillStore(storePath, [])
  await inStore(storePath, async ({ ingest }) => {
    for (let from = 0; from < eventCount; from += 1_000) {
      const rows = Array.from({ length: 1_000 }, (_, i) =>
        eventRow({
          ...{ subjectId: 'busy', eventId: `e${from + i}`, occurredAt: start + from + i },
          properties: { text: randomBytes(2_250).toString('base64') },
        }),
      )
      await ingest.ingest(rows, testKeys)
    }
  })
})

/** A service as a process of its own, with a subject whose export is large, and a folder where its spools would be, had they names. */
async function startBusyService(t: TestContext) {
  const cli = await filled(t)
  const temporary = join(cli.folder, 'tmp')
  mkdirSync(temporary)
  const key = await createKey(cli)
  const server = await startRoomyServer(cli, { TMPDIR: temporary })
  return { cli, server, key, temporary }
}

const plain: typeof fetch = (input, init) =>
  fetch(input, {
    ...init,
    headers: { ...Object.fromEntries(new Headers(init?.headers)), 'accept-encoding': 'identity' },
  })

describe('a service that is killed in the middle of an export', { concurrency: true }, () => {
  for (const [what, options] of Object.entries({ packed: {}, plain: { fetch: plain } })) {
    it(`leaves its client with an error, however much had come, and nothing behind (${what})`, async (t) => {
      const { cli, server, key, temporary } = await startBusyService(t)
      const client = new LetheClient({ url: server.url, apiKey: key, ...options })
      let entries = 0
      await assert.rejects(async () => {
        for await (const _ of client.exportSubject('shop', 'busy')) {
          entries += 1
          if (entries > 100) server.kill('SIGKILL')
        }
      }, ConnectionError)
      assert.ok(entries > 100 && entries < eventCount, `${entries} entries`)
      await server.ended
      assert.deepEqual(readdirSync(temporary), [], 'a spool has no name, so nothing of it stays')
      const next = await startTestService(t, { LETHE_STORE: `sqlite:${cli.storePath}` })
      const whole = new LetheClient({ url: next.url, apiKey: key, fetch: plain })
      let events = 0
      for await (const { type } of whole.exportSubject('shop', 'busy')) if (type === 'event') events += 1
      assert.equal(events, eventCount)
    })
  }

  it('leaves the command line with the exit code 1, and no file that could pass for an export', async (t) => {
    const { cli, server, key } = await startBusyService(t)
    const file = join(cli.folder, 'busy.json')
    const env = { LETHE_URL: server.url, LETHE_API_KEY: key }
    const exported = cli.run(['subjects', 'export', 'shop', 'busy', '--output', file], { env })
    const partial = `${file}.partial`
    await until(() => (statSync(partial, { throwIfNoEntry: false })?.size ?? 0) > 0 || existsSync(file))
    server.kill('SIGKILL')
    const { code, stdout, stderr } = await exported
    if (code === 0) return t.diagnostic('it was whole before the kill came')
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^error: /)
    assert.deepEqual(
      readdirSync(cli.folder).filter((name) => name.startsWith('busy')),
      [],
    )
  })
})
