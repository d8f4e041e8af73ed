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

/** When the test began. Everything is dated from here, so that it stays within each plan's window. */
export const now: Instant = Date.now()

interface Crowd {
  subjectIds: readonly string[]
  sessions: number
  /** In each session. */
  events: number
  /** Between which instants their sessions lie. */
  from: Instant
  to: Instant
  /** Tells sessions of different crowds with the same subjects apart. */
  mark?: string
}

/** The ids of `count` subjects that have a name in common. */
export function ids(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${name}-${number}-${name}`)
}

/** What a crowd of subjects did, at random instants: sessions of up to an hour that may overlap, and their events. */
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

/** The rows in no order. Not `random.shuffle`, which takes its time with so many. */
export function shuffled(random: SeededRandom, rows: readonly IncomingRow[]): IncomingRow[] {
  const places = new Map(rows.map((row) => [row, random.integer(2 ** 32)]))
  return rows.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
}

/** A session is collected when it is over. */
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

/** Makes an embedded store with a filled shop. */
export function buildShop(path: string, rows: readonly IncomingRow[]): Promise<void> {
  return buildShopAt(`sqlite:${path}`, rows)
}

/** Makes a store with a filled shop, does with it what else is to be done, and closes it. */
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

/** Gives an empty store an organisation that has the tracker `shop`, and fills that. */
export async function fillShop(store: Store, rows: readonly IncomingRow[]): Promise<void> {
  await addShop(store)
  // Whatever window a test configures is longer, so that nothing waits for a day.
  await rememberWindows(store, keeping(1))
  for (let next = 0; next < rows.length; next += batchSize) {
    await store.ingest.ingest(rows.slice(next, next + batchSize), testKeys)
  }
}
