import assert from 'node:assert/strict'
import type { IncomingRow } from '../../../../src/domain/ingest.ts'
import type { Store } from '../../../../src/domain/store.ts'
import { openStoreAt } from '../../../support/empty-store.ts'
import { always } from '../../../support/rows.ts'
import { seededRandom } from '../../../support/seeded-random.ts'
import { visit } from '../../../support/shop.ts'
import { eraseIn, testKeys } from '../../../support/test-keyring.ts'
import { stepBefore } from '../../../support/windows.ts'
import {
  assertKeepersListed,
  chapterSteps,
  keepers,
  organisationId,
  type WorkOrder,
  windowStart,
} from './stage.ts'
import type { Action } from './subject-history.ts'

/** Works on a shared store. Reports what it did to single subjects, and fails if a list is wrong. */
const { address, seed, chapters, name, steps, lanes }: WorkOrder = JSON.parse(process.argv[2] ?? '')
const random = seededRandom(seed)
const store = await openStoreAt(address)
const actions: Action[] = []
let count = 0

process.send?.('ready')
await new Promise((resolve) => process.once('message', resolve))
await Promise.all(
  Array.from({ length: lanes }, async () => {
    for (let step = 0; step < steps; step++) {
      const trackers = chapters[Math.floor(step / chapterSteps)] ?? assert.fail('a chapter is missing')
      await (random.integer(5) < 4 ? touchSubject(store, trackers) : touchCrowd(store))
    }
  }),
)
await store.close()
process.send?.(actions)
process.disconnect?.()

async function touchSubject(
  { ingest, subjects: port, retention }: Store,
  trackers: readonly string[],
): Promise<void> {
  const subject = random.pick(trackers)
  const sees = random.pick(['all', 'fresh'] as const)
  const view = { organisationId, trackerId: subject, since: sees === 'all' ? always : windowStart }
  const kind = random.pick(['import', 'import', 'import', 'erase', 'read', 'read', 'sweep'] as const)
  const startedAt = machineTime()
  const done = () => ({ subject, startedAt, endedAt: machineTime() })
  if (kind === 'import') {
    const [age, events] = [random.pick(['fresh', 'old'] as const), 1 + random.integer(9)]
    // Usually later than what was erased so far, so that it is stored.
    const at = (age === 'fresh' ? windowStart : windowStart - 100_000) + 20 * count + random.integer(1_000)
    const told = await ingest.ingest(newVisit(subject, at, events), testKeys)
    actions.push({ kind, age, at, events, told, ...done() })
  } else if (kind === 'erase') {
    const told = await eraseIn({ subjects: port }, view, 'anna')
    actions.push({ kind, sees, told, ...done() })
  } else if (kind === 'read') {
    const record = await port.read(view, 'anna')
    actions.push({ kind, sees, told: record?.counts ?? null, ...done() })
  } else {
    const { isDone, ...told } = await retention.sweep(subject, stepBefore(windowStart, 100_000))
    assert.ok(isDone)
    actions.push({ kind, told, ...done() })
  }
}

/** Adds or erases a subject among many who stay, or lists all of them. */
async function touchCrowd({ ingest, subjects: port }: Store): Promise<void> {
  const view = { organisationId, trackerId: 'crowd', since: windowStart }
  if (random.integer(3) === 0) return assertKeepersListed(port, view, random)
  const subjectId = `${random.pick(keepers)}-${random.integer(3)}`
  if (random.integer(2)) await eraseIn({ subjects: port }, view, subjectId)
  else
    await ingest.ingest(
      visit(subjectId, {
        trackerId: 'crowd',
        sessionId: `${name}-${++count}`,
        startedAt: windowStart + random.integer(10_000),
      }),
      testKeys,
    )
}

/** A unique session with events, all at the same instant. */
function newVisit(trackerId: string, at: number, events: number): IncomingRow[] {
  const rows = visit('anna', { trackerId, sessionId: `${name}-${++count}`, startedAt: at, events })
  return rows.map((row) => (row.type === 'event' ? { ...row, occurredAt: at } : { ...row, endedAt: at }))
}

/** Microseconds of a clock that all processes of a machine share. */
function machineTime(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}
