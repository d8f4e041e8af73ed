import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ConnectionError, LetheClient } from '@lethe/client'
import { dataOf } from '../../support/answers.ts'
import type { CommandLine, Outcome } from '../../support/command-line.ts'
import { fillStore, inStore } from '../../support/filled-store.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { preparedStore } from '../../support/prepared-store.ts'
import { eventRow } from '../../support/rows.ts'
import { startTestService } from '../../support/service.ts'
import { subjectPath } from '../../support/shop.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { until } from '../../support/until.ts'
import { createKey, startRoomyServer } from './server.ts'

/** More than sockets buffer: 18 MB that compress by a quarter at most. */
const eventCount = 1_500

const filled = preparedStore(async ({ storePath }) => {
  const start = Date.now() - 3_600_000
  await fillStore(storePath, [])
  await inStore(storePath, async ({ ingest }) => {
    const rows = Array.from({ length: eventCount }, (_, i) =>
      eventRow({
        ...{ subjectId: 'busy', eventId: `e${i}`, occurredAt: start + i },
        properties: { text: randomBytes(9_000).toString('base64') },
      }),
    )
    await ingest.ingest(rows, testKeys)
  })
})

const plain: typeof fetch = (input, init) =>
  fetch(input, {
    ...init,
    headers: { ...Object.fromEntries(new Headers(init?.headers)), 'accept-encoding': 'identity' },
  })
const clients = { packed: {}, plain: { fetch: plain } }

/** How the export of a client was interrupted. */
interface BrokenOff {
  entries: number
  error: unknown
}

describe('a service that is killed during exports', () => {
  const lifetime = inReverse({ after })
  const brokenOff = new Map<string, BrokenOff>()
  let cli: CommandLine
  let key: string
  let temporary: string
  let commandEnded: Outcome

  /** Kills the service once for all tests, when each export has received something and is not complete. */
  before(async () => {
    cli = await filled(lifetime)
    // The folder for temporary files, if they had names.
    temporary = join(cli.folder, 'tmp')
    mkdirSync(temporary)
    key = await createKey(cli)
    const server = await startRoomyServer(cli, { TMPDIR: temporary })
    let underWay = 0
    const dead = server.ended.then(() => {})
    const exports = Object.entries(clients).map(async ([what, options]) => {
      const client = new LetheClient({ url: server.url, apiKey: key, ...options })
      let entries = 0
      try {
        for await (const _ of client.exportSubject('shop', 'busy')) {
          entries += 1
          if (entries !== 101) continue
          underWay += 1
          await dead
        }
        brokenOff.set(what, { entries, error: null })
      } catch (error) {
        brokenOff.set(what, { entries, error })
      }
    })
    const file = join(cli.folder, 'busy.json')
    const env = { LETHE_URL: server.url, LETHE_API_KEY: key }
    const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
    await until(() => underWay === exports.length)
    const exported = cli.run(['subjects', 'export', 'shop', 'busy', '--output', file], { env })
    await until(() => size(`${file}.partial`) > 0 || size(file) > 0)
    server.kill('SIGKILL')
    await Promise.all(exports)
    commandEnded = await exported
  })

  for (const what of Object.keys(clients)) {
    it(`fails the client’s export, regardless of how much was received (${what})`, () => {
      const { entries, error } = brokenOff.get(what) ?? assert.fail('it has not ended')
      assert.ok(error instanceof ConnectionError)
      assert.ok(entries > 100 && entries < eventCount, `${entries} entries`)
    })
  }

  it('leaves nothing behind, and the next export is complete', async (t) => {
    assert.deepEqual(readdirSync(temporary), [], 'a spool has no name, so nothing of it stays')
    const next = await startTestService(t, { LETHE_STORE: `sqlite:${cli.storePath}` })
    const { counts } = dataOf(await next.ask(subjectPath('busy'), { key }))
    assert.deepEqual(counts, { sessions: 1, events: eventCount })
  })

  it('makes the command exit with 1, without a file that looks like an export', (t) => {
    const { code, stdout, stderr } = commandEnded
    if (code === 0) return t.diagnostic('it was whole before the kill came')
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^error: /)
    assert.deepEqual(
      readdirSync(cli.folder).filter((name) => name.startsWith('busy')),
      [],
    )
  })
})
