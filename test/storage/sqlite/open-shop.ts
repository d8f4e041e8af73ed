import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import type { Instant } from '../../../src/domain/instant.ts'
import type { Store } from '../../../src/domain/store.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { writeEmptyStore } from '../../support/empty-store.ts'
import { addShop } from '../../support/filled-store.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import type { Lifetime } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { keeping, rememberWindows } from '../../support/windows.ts'

/**
 * A store in its own file, with the tracker `shop` of the organisation `acme`; closed when the test ends. It
 * writes in a thread, as a service does, or with `writesHere` in this one, which is faster to start.
 */
export async function openShop(
  t: Lifetime,
  { writesHere = false } = {},
): Promise<{ store: Store; path: string }> {
  const path = join(temporaryFolder(t), 'lethe.db')
  await writeEmptyStore(path)
  const store = await openSqliteStore(path, { writesHere })
  t.after(() => store.close())
  await addShop(store)
  // `stepBefore` then sweeps exactly what is older than its instant.
  await rememberWindows(store, keeping(1))
  return { store, path }
}

/** The rows of one statement, read on a separate connection. */
export function ask(path: string, sql: string): Record<string, SQLOutputValue>[] {
  const db = new DatabaseSync(path)
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}

/** The single value of a pragma or a count. */
export function value(path: string, sql: string): SQLOutputValue | undefined {
  return Object.values(ask(path, sql)[0] ?? {})[0]
}

/** The contents of the database file, its write-ahead log and its shared memory, if they exist. */
export function filesOf(path: string): { name: string; bytes: Buffer }[] {
  return ['', '-wal', '-shm']
    .filter((suffix) => existsSync(path + suffix))
    .map((suffix) => ({ name: `the database file${suffix}`, bytes: readFileSync(path + suffix) }))
}

export function logSize(path: string): number {
  return statSync(`${path}-wal`).size
}

/** A subject with two sessions and eight events, in which every text is unique. */
interface MarkedSubject {
  subjectId: string
  texts: string[]
  rows: IncomingRow[]
}

const markPattern = /(subject|session|country|event|property|email):\d{4}:\d\d!/g

export function markedSubject(
  number: number,
  start: Instant = at('2026-11-01T10:00:00.000Z'),
): MarkedSubject {
  const mark = (kind: string, i = 0) =>
    `${kind}:${String(number).padStart(4, '0')}:${String(i).padStart(2, '0')}!`
  const subjectId = mark('subject')
  const rows: IncomingRow[] = [0, 1].flatMap((visit) => [
    sessionRow({
      subjectId,
      sessionId: mark('session', visit),
      startedAt: start + ((number * 37 + visit * 101) % 500),
      endedAt: start + 1_000,
      attributes: { country: mark('country', visit) },
    }),
    ...[0, 1, 2, 3].map((i) =>
      eventRow({
        subjectId,
        sessionId: mark('session', visit),
        eventId: mark('event', visit * 4 + i),
        occurredAt: start + ((number * 53 + i * 211 + visit * 97) % 1_000),
        identifiers: { email: mark('email', visit), userId: mark('email', 9) },
        properties: { url: mark('property', visit * 4 + i).padEnd(40 + ((number * i) % 160), '.') },
      }),
    ),
  ])
  return { subjectId, texts: [...new Set(JSON.stringify(rows).match(markPattern))], rows }
}

export function marksIn(bytes: Buffer): Set<string> {
  return new Set(bytes.toString('latin1').match(markPattern))
}

/** The numbers of the subjects of whose texts any file beside the store holds at least the end. */
export function subjectNumbersIn(path: string): Set<number> {
  const folder = dirname(path)
  const numbers = new Set<number>()
  for (const file of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, file))
    for (const text of readings(bytes)) {
      for (const [, number] of text.matchAll(/(\d{4}):\d\d!/g)) numbers.add(Number(number))
    }
  }
  return numbers
}

/** The bytes decoded as Latin-1 and as UTF-16. */
function readings(bytes: Buffer): string[] {
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2))
  const odd = bytes.subarray(1, bytes.length - ((bytes.length + 1) % 2))
  return [
    bytes.toString('latin1'),
    ...[even, odd].flatMap((units) => [
      units.toString('utf16le'),
      Buffer.from(units).swap16().toString('utf16le'),
    ]),
  ]
}
