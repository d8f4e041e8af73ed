import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { LetheError } from '../../src/domain/errors.ts'
import { IngestQueue } from '../../src/domain/ingest-queue.ts'
import type { Instant } from '../../src/domain/instant.ts'
import type { Keyring } from '../../src/domain/keyring.ts'
import type { MaybePromise } from '../../src/domain/maybe-promise.ts'
import type { Randomness } from '../../src/domain/randomness.ts'
import type { RetentionPolicy } from '../../src/domain/retention.ts'
import { FairQueue } from '../../src/domain/semaphore.ts'
import type { Store } from '../../src/domain/store.ts'
import type { TrackerView } from '../../src/domain/tracker.ts'
import { emptyStore, openStoreAt } from '../support/empty-store.ts'
import { inReverse } from '../support/in-reverse.ts'
import { always } from '../support/rows.ts'
import { testKeyring } from '../support/test-keyring.ts'
import { defaultPolicy, rememberWindows } from '../support/windows.ts'

/** The dependencies of operations: a real store, a clock that tests advance, and predictable randomness. */
export interface Deps extends Store, RetentionPolicy {
  clock(): Instant
  randomness: Randomness
  keyring: Keyring
  jobs: FairQueue
  ingestQueue: IngestQueue
}

export const noon = Date.parse('2026-11-15T12:00:00.000Z')

/** The dependencies of all tests in a file, opened before the first and closed after the last. */
export function openDeps(): { deps(): Deps; passTime(ms: number): void; fresh(kind: string): string } {
  let deps: Deps | null = null
  let now = noon
  let count = 0
  const lifetime = inReverse({ after })
  before(async () => {
    const store = await openStoreAt(await emptyStore(lifetime), { writesHere: true })
    lifetime.after(() => store.close())
    const randomness: Randomness = {
      uuid: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`,
      base62: (length) => String(++count).padStart(length, '0'),
    }
    const jobs = new FairQueue({ permits: 4, maxWaitingEach: 100, waitTimeoutMs: 60_000 })
    const { tombstoneKeys } = testKeyring
    const bounds = { maxRows: 10_000, maxWaitingEach: 100, maxBlockedMs: 30_000 }
    const ingestQueue = new IngestQueue(store.ingest, tombstoneKeys, bounds)
    const queues = { jobs, ingestQueue }
    deps = { ...store, ...defaultPolicy, ...queues, clock: () => now, randomness, keyring: testKeyring }
  })
  return {
    deps() {
      assert.ok(deps, 'the store is open')
      return deps
    },
    passTime(ms) {
      now += ms
    },
    fresh: (kind) => `${kind}-${++count}`,
  }
}

/** An organisation with a new tracker. */
export async function addTracker(deps: Deps, trackerId: string): Promise<TrackerView> {
  const organisationId = `owner of ${trackerId}`
  await deps.organisations.create({ id: organisationId, name: 'Acme', plan: 'free', createdAt: noon })
  await deps.trackers.create({ id: trackerId, organisationId, name: 'Shop', createdAt: noon })
  await rememberWindows(deps, defaultPolicy, organisationId)
  return { organisationId, trackerId, since: always }
}

/** Asserts that `work` fails with this code, and returns the message and the details by field. */
export async function failure(
  code: LetheError['code'],
  work: Promise<unknown> | (() => MaybePromise<unknown>),
): Promise<{ message: string; fields: Record<string, string> }> {
  try {
    await (typeof work === 'function' ? work() : work)
  } catch (error) {
    assert.ok(error instanceof LetheError, String(error))
    assert.equal(error.code, code)
    return {
      message: error.message,
      fields: Object.fromEntries(error.details.map(({ field, message }) => [field, message])),
    }
  }
  throw new assert.AssertionError({ message: `nothing failed, where ${code} was due` })
}
