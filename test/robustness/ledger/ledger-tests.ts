import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Consistency, verifyConsistency, verifyReceipt } from '@lethe/client'
import { readConfig } from '../../../src/config.ts'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { earliestInstant } from '../../../src/domain/instant.ts'
import type { Services } from '../../../src/domain/services.ts'
import { eraseSubject } from '../../../src/operations/erase-subject.ts'
import { findOlderData } from '../../../src/operations/erasure.ts'
import { verifyLedger } from '../../../src/operations/verify-ledger.ts'
import { openServices } from '../../../src/start.ts'
import { dataOf, listIn, textIn } from '../../support/answers.ts'
import { type CommandLine, callApi, commandLine, onlyJson, textOf } from '../../support/command-line.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { askRaw } from '../../support/raw-http.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { startTestService } from '../../support/service.ts'
import { visit } from '../../support/shop.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { testSecretFile } from '../../support/test-keyring.ts'
import { createKey, startRoomyServer, stopServer } from '../kill/server.ts'
import { buildShopAt, fillShop } from '../kill/visits.ts'

const view = { organisationId: 'acme', trackerId: 'shop', since: earliestInstant }

/** Which of the two was first. */
type Winner = 'batch' | 'erasure'

/**
 * Ingests a batch, alone or in a transaction with others, and erases one of its subjects at the same time, on
 * separate connections. Whichever is first, nothing older than the erasure must remain.
 */
function raceErasures(makeStore: (t: TestContext) => Promise<string>, races: number): void {
  it(`a batch during an erasure of its subject leaves no earlier data, ${races} times`, async (t) => {
    const random = seededRandom()
    const address = await makeStore(t)
    const [importing, erasing] = [await open(t, address), await open(t, address)]
    await fillShop(importing, [])
    const won: Record<Winner, number> = { batch: 0, erasure: 0 }
    // The winner starts later the next time, so that each is first sometimes.
    let aheadMs = 0
    for (let race = 0; race < races; race++) {
      const [subjectId, other] = [`racer-${race}`, `other-${race}`]
      const wasThere = random.integer(2) === 0
      if (wasThere) await ingest(importing, visit(subjectId, { sessionId: 'before', events: 2 }))
      const later = visit(subjectId, { sessionId: 'later', startedAt: Date.now() + 3_600_000, events: 1 })
      const batch = random.shuffle([
        ...visit(subjectId, { sessionId: 'in-flight', events: 1 + random.integer(20) }),
        ...later,
        ...visit(other, { events: 3 }),
      ])
      const [added, erasure] = await Promise.all([
        delay(Math.max(0, aheadMs) + random.integer(3)).then(() =>
          race % 2 === 0 ? ingest(importing, batch) : ingestWithOthers(importing, batch),
        ),
        delay(Math.max(0, -aheadMs) + random.integer(3)).then(() => eraseSubject(erasing, view, subjectId)),
      ])
      const left = await importing.subjects.read(view, subjectId)
      const winner: Winner = left === null ? 'batch' : 'erasure'
      won[winner] += 1
      aheadMs += winner === 'batch' ? 0.2 : -0.2
      const story = `race ${race}, won by the ${winner}, LETHE_TEST_SEED=${random.seed}`
      const known = wasThere ? { sessions: 1, events: 2 } : { sessions: 0, events: 0 }
      if (winner === 'batch') {
        assert.equal(added.ofErased ?? 0, 0, story)
        const events = known.events + batch.filter(isEventOf(subjectId)).length
        assert.deepEqual(erasure.counts, { sessions: known.sessions + 2, events }, story)
      } else {
        assert.deepEqual(erasure.counts, known, story)
        assert.equal(added.ofErased, batch.length - later.length - 4, story)
        assert.deepEqual(left?.counts, { sessions: 1, events: 1 }, story)
        assert.ok((left?.firstSeenAt ?? 0) > erasure.erasedAt, story)
      }
      assert.deepEqual(
        (await importing.subjects.read(view, other))?.counts,
        { sessions: 1, events: 3 },
        story,
      )
      // The same batch again, as from a pipe that repeats itself.
      if (random.integer(4) === 0) {
        const again = await ingest(importing, batch)
        assert.deepEqual([again.sessions, again.events], [0, 0], story)
      }
    }
    const { head, problem } = await verifyLedger(erasing, 'acme')
    assert.deepEqual([head.size, problem], [races, null])
    for await (const older of findOlderData(erasing, 'acme')) assert.fail(JSON.stringify(older))
    t.diagnostic(
      `LETHE_TEST_SEED=${random.seed}: the batch was first ${won.batch} times, the erasure ${won.erasure}`,
    )
    if (races >= 200) assert.ok(Math.min(won.batch, won.erasure) > races / 20, 'both have been first')
  })
}

async function open(t: TestContext, address: string): Promise<Services> {
  const env = { LETHE_STORE: address, LETHE_SECRET_FILE: testSecretFile() }
  const services = await openServices(readConfig(env), { create: true })
  t.after(() => services.close())
  return services
}

function ingest({ ingest, keyring }: Services, rows: readonly IncomingRow[]) {
  return ingest.ingest(rows, keyring.tombstoneKeys)
}

/** Stores a batch in a transaction with others, as the service does with batches over HTTP. */
async function ingestWithOthers({ ingest, ingestQueue }: Services, rows: readonly IncomingRow[]) {
  const beside = visit('beside', { events: 1 })
  const [added] = await Promise.all(
    [rows, beside].map((batch) =>
      ingestQueue.add('acme', { pieces: [ingest.pack(batch)], rows: batch.length }),
    ),
  )
  assert.ok(added)
  return added
}

function isEventOf(subjectId: string) {
  return (row: IncomingRow) => row.type === 'event' && row.subjectId === subjectId
}

/** The number of erasures, and of processes, including this one. */
interface Crowd {
  erasures: number
  processes: number
}

/** The number of concurrent requests to each process. */
const lanes = 8

interface HandedOut {
  subjectId: string
  receipt: string
}

/** Erases in several services concurrently, and finally verifies every receipt against the ledger. */
function eraseByMany(
  makeCli: (t: TestContext) => Promise<{ cli: CommandLine; address: string }>,
  { erasures, processes }: Crowd,
): void {
  it(`${erasures} erasures by ${processes} processes leave one tree, in which every receipt is valid`, async (t) => {
    const random = seededRandom()
    const { cli, address } = await makeCli(t)
    // Some subjects are erased by more than one process, and some were never seen.
    const subjects = Array.from({ length: Math.ceil(erasures * 0.8) }, (_, i) => `subject-${i}`)
    const seen = subjects.filter((_, i) => i % 4 !== 0)
    await buildShopAt(
      address,
      seen.flatMap((subjectId) => visit(subjectId, { events: 1 })),
    )
    const key = await createKey(cli)
    const here = await startTestService(t, { LETHE_STORE: address })
    const elsewhere = await Promise.all(Array.from({ length: processes - 1 }, () => startRoomyServer(cli)))
    const servers = [here, ...elsewhere]
    const doomed = random.shuffle([...subjects, ...subjects.slice(0, erasures - subjects.length)])
    const receipts: HandedOut[] = []
    const counted = { erased: 0, nothingThere: 0 }
    const startedAt = performance.now()
    const work = doomed.entries()
    await Promise.all(
      servers.flatMap(({ url }) =>
        Array.from({ length: lanes }, async () => {
          for (const [, subjectId] of work) {
            const path = `/v1/analytics/trackers/shop/subjects/${subjectId}`
            const { status, data } = await callApi(url + path, key, 'DELETE')
            assert.equal(status, 200)
            counted[data.alreadyErased === true ? 'nothingThere' : 'erased'] += 1
            receipts.push({ subjectId, receipt: textOf(data, 'receipt') })
          }
        }),
      ),
    )
    const erasedMs = performance.now() - startedAt
    assert.deepEqual(counted, { erased: seen.length, nothingThere: erasures - seen.length })

    const ask = async (path: string) => dataOf(await askRaw(here.url, `/v1/analytics/ledger${path}`, { key }))
    const ledger = await ask('')
    assert.equal(ledger.size, erasures)
    const verifierKeys = listIn(ledger, 'verifierKeys').map(String)
    const indexes = new Set<number>()
    const proofs = new Map<number, Promise<Consistency>>()
    const proofFrom = (from: number) => {
      const known = proofs.get(from) ?? ask(`/consistency?from=${from}`).then(toConsistency)
      proofs.set(from, known)
      return known
    }
    for (const { subjectId, receipt } of receipts) {
      const verified = await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId })
      indexes.add(verified.index)
      const { proof, checkpoint } = await proofFrom(verified.checkpoint.size)
      const { to } = await verifyConsistency(
        { from: verified.checkpoint, to: checkpoint, proof },
        { verifierKeys },
      )
      assert.deepEqual([to.size, to.rootHash], [erasures, textIn(ledger, 'rootHash')])
    }
    assert.equal(indexes.size, erasures, 'every entry was handed out once')
    await here.stop()
    for (const server of elsewhere) await stopServer(server)
    const { ledgers } = onlyJson(await cli.run(['ledger', 'verify', '--json']))
    assert.partialDeepStrictEqual(ledgers, [
      { size: erasures, rootHash: ledger.rootHash, problem: null, olderCount: 0 },
    ])
    t.diagnostic(
      `LETHE_TEST_SEED=${random.seed}: ${erasures} erasures in ${Math.round(erasedMs / 1_000)} s, receipts against ${proofs.size} different heads`,
    )
  })
}

function toConsistency(data: Record<string, unknown>): Consistency {
  return {
    from: Number(data.from),
    to: Number(data.to),
    proof: listIn(data, 'proof').map(String),
    checkpoint: textIn(data, 'checkpoint'),
  }
}

/** The tests of erasures and their ledger on each engine, with this many races and erasures. */
export function ledgerTests({ races, crowd }: { races: number; crowd: Crowd }): void {
  describe('on SQLite,', () => {
    raceErasures(async (t) => `sqlite:${join(temporaryFolder(t), 'lethe.db')}`, races)
    eraseByMany(async (t) => {
      const cli = commandLine(t)
      copyFileSync(testSecretFile(), join(cli.folder, 'lethe.secret'))
      return { cli, address: `sqlite:${cli.storePath}` }
    }, crowd)
  })
  describe('on PostgreSQL,', () => {
    raceErasures(freshStore, races)
    eraseByMany(async (t: TestContext) => {
      const address = await freshStore(t)
      return { cli: commandLine(t, address), address }
    }, crowd)
  })
}
