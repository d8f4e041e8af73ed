import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { formatInstant, type Instant } from '../../../src/domain/instant.ts'
import type { Store } from '../../../src/domain/store.ts'
import { openStoreAt } from '../../support/empty-store.ts'
import { addShop } from '../../support/filled-store.ts'
import { eventRow, sessionRow } from '../../support/rows.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { keeping, rememberWindows } from '../../support/windows.ts'

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** The start of the test. Everything is dated relative to it, to stay within every plan's window. */
export const now: Instant = Date.now()

interface Crowd {
  subjectIds: readonly string[]
  sessions: number
  /** Per session. */
  events: number
  /** The range of the starts of the sessions. */
  from: Instant
  to: Instant
  /** Distinguishes sessions of different crowds with the same subjects. */
  mark?: string
}

/** The IDs of `count` subjects that share a name. */
export function ids(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${name}-${number}-${name}`)
}

/** Sessions of up to an hour at random instants, which may overlap, with their events. */
export function visits(random: SeededRandom, { subjectIds, mark = 's', ...crowd }: Crowd): IncomingRow[] {
  const rows: IncomingRow[] = []
  for (const subjectId of subjectIds) {
    for (let session = 0; session < crowd.sessions; session++) {
      const sessionId = `${subjectId}/${mark}${session}`
      const startedAt = crowd.from + random.integer(crowd.to - crowd.from - hourMs)
      const lengthMs = 1 + random.integer(hourMs)
      const attributes = { country: random.pick(['DE', 'FR', 'PL']), visit: session }
      rows.push(sessionRow({ subjectId, sessionId, startedAt, endedAt: startedAt + lengthMs, attributes }))
      for (let event = 0; event < crowd.events; event++) {
        rows.push(
          eventRow({
            subjectId,
            sessionId,
            eventId: `${sessionId}/${event}`,
            name: random.pick(['pageview', 'purchase']),
            occurredAt: startedAt + random.integer(lengthMs),
            properties: { url: `https://shop.example/products/${random.integer(1_000)}` },
          }),
        )
      }
    }
  }
  return rows
}

/** The rows in the order in which they would have been collected. */
export function byTime(rows: readonly IncomingRow[]): IncomingRow[] {
  return rows.toSorted((a, b) => timeOf(a) - timeOf(b))
}

/** The rows in random order. `random.shuffle` is too slow for this many. */
export function shuffled(random: SeededRandom, rows: readonly IncomingRow[]): IncomingRow[] {
  const places = new Map(rows.map((row) => [row, random.integer(2 ** 32)]))
  return rows.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
}

/** A session is collected when it ends. */
function timeOf(row: IncomingRow): Instant {
  return row.type === 'session' ? row.endedAt : row.occurredAt
}

/** The rows as lines to import. */
export function ndjson(rows: readonly IncomingRow[]): string {
  return rows
    .map((row) =>
      row.type === 'session'
        ? { ...row, startedAt: formatInstant(row.startedAt), endedAt: formatInstant(row.endedAt) }
        : { ...row, occurredAt: formatInstant(row.occurredAt) },
    )
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
}

const batchSize = 5_000

/** Creates an embedded store with a filled shop. */
export function buildShop(path: string, rows: readonly IncomingRow[]): Promise<void> {
  return buildShopAt(`sqlite:${path}`, rows)
}

/** Creates a store with a filled shop, runs `work` on it, and closes it. */
export async function buildShopAt(
  address: string,
  rows: readonly IncomingRow[] = [],
  work: (store: Store) => Promise<unknown> = async () => {},
): Promise<void> {
  const store = await openStoreAt(address, { writesHere: true })
  try {
    await fillShop(store, rows)
    await work(store)
  } finally {
    await store.close()
  }
}

/** Adds an organisation with the tracker `shop` and its rows to an empty store. */
export async function fillShop(store: Store, rows: readonly IncomingRow[]): Promise<void> {
  await addShop(store)
  // Every window that tests configure is longer, so no deletion waits for the grace period of a day.
  await rememberWindows(store, keeping(1))
  for (let next = 0; next < rows.length; next += batchSize) {
    await store.ingest.ingest(rows.slice(next, next + batchSize), testKeys)
  }
}
