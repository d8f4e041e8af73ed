import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { always, at, eventRow } from '../../support/rows.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { logSize, value } from './database-file.ts'
import { runChild } from './run-child.ts'

const start = at('2026-11-01T10:00:00.000Z')
const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }
const whole = { sessions: 50, events: 20_000 }

/** A store in which anna holds 20,000 events and ben a few, closed. */
async function build(path: string): Promise<void> {
  const store = await openSqliteStore(path)
  await store.organisations.create({ id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 })
  await store.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
  const events = Array.from({ length: whole.events }, (_, i) =>
    eventRow({
      subjectId: 'anna',
      sessionId: `s${i % whole.sessions}`,
      eventId: `e${i}`,
      occurredAt: start + i,
      properties: { url: `https://shop.example/products/${i}` },
    }),
  )
  await store.ingest.ingest(events)
  await store.ingest.ingest(events.slice(0, 10).map((event) => ({ ...event, subjectId: 'ben' })))
  await store.close()
}

/** Erases anna in a process of its own; kills it after `killAfterMs`, unless that is `null`. How long the erasure took, if it ended. */
async function eraseInChild(path: string, killAfterMs: number | null): Promise<number | null> {
  const child = runChild('child-erases.ts', path)
  child.stdout.setEncoding('utf8')
  const exited = once(child, 'exit')
  let said = ''
  child.stdout.on('data', (text: string) => {
    said += text
  })
  await once(child.stdout, 'data')
  if (killAfterMs !== null) {
    await delay(killAfterMs)
    child.kill('SIGKILL')
  }
  await exited
  const [, duration] = said.trim().split('\n')
  return duration === undefined ? null : Number(duration)
}

async function assertWholeOrGone(path: string): Promise<'whole' | 'gone'> {
  const store = await openSqliteStore(path)
  try {
    assert.equal(value(path, 'PRAGMA integrity_check'), 'ok')
    const record = await store.subjects.read(tracker, 'anna')
    const { sessions, events } = record ? whole : { sessions: 0, events: 0 }
    if (record) assert.deepEqual(record.counts, whole)
    assert.equal(value(path, 'SELECT count(*) FROM events'), events + 10)
    assert.equal(value(path, 'SELECT count(*) FROM sessions'), sessions + 10)
    assert.deepEqual((await store.subjects.read(tracker, 'ben'))?.counts, { sessions: 10, events: 10 })
    // Repeating it is safe, tells the truth, and cleans up what the first left behind.
    assert.deepEqual(await store.subjects.erase(tracker, 'anna'), { sessions, events })
    assert.equal(logSize(path), 0)
    assert.equal(value(path, 'SELECT count(*) FROM events'), 10)
    return record ? 'whole' : 'gone'
  } finally {
    await store.close()
  }
}

describe('a process that is killed while it erases', () => {
  const folder = temporaryFolder({ after })
  const template = join(folder, 'template.db')
  before(() => build(template))

  it('leaves the subject whole or gone, whenever it is killed', async (t) => {
    const random = seededRandom()
    const unharmed = join(folder, 'unharmed.db')
    copyFileSync(template, unharmed)
    const durationMs = await eraseInChild(unharmed, null)
    assert.ok(durationMs !== null)
    assert.equal(await assertWholeOrGone(unharmed), 'gone')

    const outcomes: string[] = []
    for (let round = 0; round < 8; round++) {
      const path = join(folder, `round-${round}.db`)
      copyFileSync(template, path)
      const moment = (round + random.integer(1_000) / 1_000) / 8
      await eraseInChild(path, durationMs * moment)
      outcomes.push(await assertWholeOrGone(path))
    }
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}: an erasure takes ${Math.round(durationMs)} ms; ${outcomes}`)
  })
})
