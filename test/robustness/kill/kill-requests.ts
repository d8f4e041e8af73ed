import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '../../../src/domain/store.ts'
import { startRequest } from '../../../src/operations/change-privacy-request.ts'
import { createRequest } from '../../../src/operations/create-privacy-request.ts'
import { text } from '../../../src/storage/nouns/row.ts'
import type { RunningProgram } from '../../support/command-line.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { visit } from '../../support/shop.ts'
import { testKeyring, testKeys } from '../../support/test-keyring.ts'
import { until } from '../../support/until.ts'
import { assertSound, countRows, rowsOf } from './invariants.ts'
import type { KillableStore, MakeKillable } from './killable-store.ts'
import { killProgram, type Plan, Tally } from './killing.ts'
import { assertAnswered, assertNoneTwice, makeRequests, type Requested } from './requests.ts'
import { createKey, startNextService, startRoomyServer } from './server.ts'
import { buildShopAt, ids } from './visits.ts'

const others = ids('other', 20)
const tables = ['subjects', 'sessions', 'events'] as const
/** Longer than the lease of a request, which a dead process keeps. */
const shiftMs = 10_000
const view = { organisationId: 'acme', since: 0 }

export interface RequestPlan extends Plan {
  /** The number of processes that work on the store concurrently. */
  processes?: number
}

/** Kills processes that erase the requests of a plan until all are done, and repeats that from the start. */
export function killRequests(
  makeStore: MakeKillable,
  { kills, rows, processes = 1 }: RequestPlan,
  total: Tally,
): void {
  it(`requests end as done and prove each erasure once, with ${processes} running`, async (t) => {
    const random = seededRandom()
    const store = await makeStore(t, random)
    const journal = join(store.cli.folder, 'lethe.journal')
    const env = { LETHE_BATCH_PACE: '1000000/second', LETHE_JOURNAL: journal }
    const requested = makeRequests(rows)
    await buildShopAt(store.work.address, [], (filled) => fill(filled, requested))
    const key = await createKey(store.cli)
    const before = await store.keep()
    const kept = await Promise.all(tables.map((table) => rowsOf(before, table)))

    const isOver = async () => (await countRows(store.work, 'privacy_requests', "state <> 'done'")) === 0
    const untilOver = () => until(async () => (await isOver()) || delay(50, false), 600_000)

    async function begin(): Promise<void> {
      rmSync(journal, { force: true })
      await store.restore()
    }
    /** Completes what is left, and compares it with the requests. Returns the time it took. */
    async function complete(): Promise<number> {
      const next = await startNextService(t, store, { env, shiftMs })
      const startedAt = performance.now()
      const answers = eraseOpen(next.url, key, requested, new Set())
      await untilOver()
      const tookMs = performance.now() - startedAt
      await answers
      await next.stop()
      await assertSound(store.work, 'not below the stored rows')
      await assertAnswered(store.work, requested)
      for (const [i, table] of tables.entries()) {
        const left = await rowsOf(store.work, table)
        assert.equal(left.size, others.length, `nobody is left, and nobody else is gone from ${table}`)
        assert.ok(
          [...left].every((row) => kept[i]?.has(row)),
          `nobody else was touched in ${table}`,
        )
      }
      const verified = await store.cli.run(['ledger', 'verify', '--journal', journal])
      assert.equal(verified.code, 0, verified.stderr)
      return tookMs
    }

    await begin()
    const durationMs = await complete()

    const tally = new Tally()
    let rounds = 0
    while (tally.kills < kills) {
      rounds += 1
      await begin()
      const done = new Set<string>()
      const servers: Server[] = []
      while (tally.kills < kills && !(await isOver())) {
        while (servers.length < processes) servers.push(await startServer(store, env))
        const answers = servers.map(({ url }) => eraseOpen(url, key, requested, done))
        const afterMs = random.integer(Math.ceil((durationMs * processes) / kills))
        await delay(afterMs)
        // Sometimes all of them.
        const victims = servers.splice(0, random.integer(4) === 0 ? processes : 1)
        const wereInTime = !(await isOver())
        await Promise.all(victims.map(killProgram))
        for (const _ of victims) tally.hits.push({ wasInTime: wereInTime, ranMs: afterMs, done: 'part' })
        if (servers.length === 0) await Promise.all(answers)
        const seen = servers.length === 0 ? await store.leftBehind() : store.work
        const answered = [...done]
        await assertSound(seen, 'not below the stored rows')
        await assertNoneTwice(seen, requested)
        const open = await seen.ask(`SELECT id FROM privacy_requests WHERE state <> 'done'`)
        const openIds = new Set(open.map((row) => text(row, 'id')))
        assert.deepEqual(
          answered.filter((id) => openIds.has(id)),
          [],
          'what was answered as done is done',
        )
      }
      await Promise.all(servers.map(killProgram))
      await complete()
    }
    total.hits.push(...tally.hits)
    t.diagnostic(
      `LETHE_TEST_SEED=${random.seed}: ${tally.kills} kills under ${rows} requests, ${tally.inTime} in time, in ${rounds} rounds; undisturbed ${Math.round(durationMs)} ms`,
    )
  })
}

type Server = RunningProgram & { url: string }

function startServer({ cli }: KillableStore, env: Record<string, string>): Promise<Server> {
  return startRoomyServer(cli, env)
}

async function fill(store: Store, requested: readonly Requested[]): Promise<void> {
  await store.trackers.create({ id: 'blog', organisationId: 'acme', name: 'Blog', createdAt: 1 })
  const rows = others.flatMap((id) => visit(id))
  for (const { held, email } of requested) {
    for (const { trackerId, subjectId } of held)
      rows.push(...visit(subjectId, { trackerId, events: 3, identifiers: { email } }))
  }
  await store.ingest.ingest(rows, testKeys)
  const randomness = { uuid: randomUUID, base62: () => assert.fail() }
  const deps = { ...store, keyring: testKeyring, clock: Date.now, randomness }
  for (const { id, person, startedBy } of requested) {
    const origin = {
      actor: startedBy ?? ({ kind: 'command-line' } as const),
      requestId: null,
      organisationId: 'acme',
    }
    const wanted = { kind: 'erasure', person, receivedAt: null, reference: null, requestId: id } as const
    await createRequest(deps, view, wanted, origin)
    if (startedBy) await startRequest(deps, view, id, origin)
  }
}

/**
 * Sends the erasures of open requests, and repeats them as a client does. Collects those answered as done.
 */
async function eraseOpen(
  url: string,
  key: string,
  requested: readonly Requested[],
  done: Set<string>,
): Promise<void> {
  async function erase(id: string): Promise<void> {
    const response = await fetch(`${url}/v1/analytics/requests/${id}/erase`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    })
    const { data, error } = (await response.json()) as { data?: { state: string }; error?: unknown }
    if (response.status === 422) assert.match(JSON.stringify(error), /closed \(done\)/)
    else assert.equal(response.status, 200)
    if (response.status === 422 || data?.state === 'done') done.add(id)
  }
  const open = requested.filter(({ id, startedBy }) => startedBy === null && !done.has(id))
  // A process that is killed does not answer.
  await Promise.all(
    open.map(({ id }) => erase(id).catch((error) => assert.ok(error instanceof TypeError, error))),
  )
}
