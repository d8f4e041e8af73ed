import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../../../src/config.ts'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { earliestInstant } from '../../../src/domain/instant.ts'
import type { Services } from '../../../src/domain/services.ts'
import { eraseSubject } from '../../../src/operations/erase-subject.ts'
import { findOlderData } from '../../../src/operations/erasure.ts'
import { verifyLedger } from '../../../src/operations/verify-ledger.ts'
import { openServices } from '../../../src/start.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { visit } from '../../support/shop.ts'
import { testSecretFile } from '../../support/test-keyring.ts'
import { fillShop } from '../kill/shop-store.ts'

const view = { organisationId: 'acme', trackerId: 'shop', since: earliestInstant }

/** Which of the two came first. */
type Winner = 'batch' | 'erasure'

/**
 * Lets a batch of an import and the erasure of one of its subjects come to the store at the same moment, through connections of their
 * own, again and again: whichever is first, nothing of what happened before the erasure is left.
 */
export function raceErasures(makeStore: (t: TestContext) => Promise<string>, races: number): void {
  it(`a batch in flight beside an erasure of its subject leaves nothing of it, ${races} times`, async (t) => {
    const random = seededRandom()
    const address = await makeStore(t)
    const [importing, erasing] = [await open(t, address), await open(t, address)]
    await fillShop(importing, [])
    const won: Record<Winner, number> = { batch: 0, erasure: 0 }
    // Whoever wins begins a little later the next time, so that each is first now and then.
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
        delay(Math.max(0, aheadMs) + random.integer(3)).then(() => ingest(importing, batch)),
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
      // The same batch again, as of a pipe that repeats itself.
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

function isEventOf(subjectId: string) {
  return (row: IncomingRow) => row.type === 'event' && row.subjectId === subjectId
}
