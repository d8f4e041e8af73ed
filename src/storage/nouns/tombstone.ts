import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant } from '../../domain/instant.ts'
import { type TombstoneKey, tombstoneDigest } from '../../domain/keyring.ts'
import type { Tombstone, TombstoneStore } from '../../domain/ledger.ts'
import type { Engine, Run } from './engine.ts'
import { bytes, integer, type Row, text } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { checkKeys, listSecrets } from './secret.ts'
import { statement } from './statement.ts'

const columns = 'tracker_id, digest, organisation_id, ledger_index, erased_at, refused_until'
const find = statement(
  `SELECT ${columns} FROM tombstones
   WHERE tracker_id = :trackerId AND digest = :digest AND organisation_id = :organisationId
     AND ledger_index >= 0 AND ledger_index < :before
   ORDER BY ledger_index DESC LIMIT :limit`,
)
const ofEntries = statement(
  `SELECT ${columns} FROM tombstones
   WHERE erased_at = ANY (:instants) AND organisation_id = :organisationId AND ledger_index = ANY (:indexes)`,
  'any',
)
const firstKept = statement(
  'SELECT erased_at FROM tombstones WHERE erased_at < :before ORDER BY erased_at LIMIT 1 OFFSET :maxRows',
  'any',
)
const sweep = statement('DELETE FROM tombstones WHERE erased_at < :until', 'any')
const key = '(tracker_id, digest, organisation_id, ledger_index)'
const afterKey = `${key} > (:trackerId, :digest, :ofOrganisation, :ledgerIndex)`
// The last tombstone of a step that begins after another one.
const lastOfStep = statement(
  `SELECT ${columns} FROM tombstones WHERE ${afterKey}
   ORDER BY tracker_id, digest, organisation_id, ledger_index LIMIT 1 OFFSET :others`,
  'any',
)
// Compared with the head in one statement, because erasures go on.
const isWithoutEntry = `organisation_id = :organisationId AND (ledger_index < 0 OR ledger_index > (
  SELECT coalesce(max(ledger_index), -1) FROM ledger_entries WHERE organisation_id = :organisationId))`
const withoutEntryToLast = statement(
  `SELECT count(*) AS count FROM tombstones WHERE ${afterKey}
     AND ${key} <= (:lastTrackerId, :lastDigest, :lastOrganisation, :lastIndex) AND ${isWithoutEntry}`,
  'any',
)
const withoutEntryToEnd = statement(
  `SELECT count(*) AS count FROM tombstones WHERE ${afterKey} AND ${isWithoutEntry}`,
  'any',
)
export const insertTombstone = statement(
  `INSERT INTO tombstones (${columns})
   VALUES (:trackerId, :digest, :organisationId, :ledgerIndex, :erasedAt, :refusedUntil)`,
)
export const anyOfTracker = statement('SELECT 1 FROM tombstones WHERE tracker_id = :trackerId LIMIT 1', 'any')
const latestOf = (which: string) =>
  `SELECT digest, max(refused_until) AS refused_until FROM tombstones
   WHERE tracker_id = :trackerId AND digest ${which} GROUP BY digest`
const latest = statement(
  latestOf('= ANY (:digests)'),
  'any',
  latestOf('IN (SELECT unhex(value) FROM json_each(:digests))'),
)

/** Read in a millisecond or two. */
const stepRows = 5_000

export const tombstoneTransactions = {
  async sweepTombstones(run: Run, before: Instant, maxRows: number): Promise<number> {
    const [kept] = (await run(firstKept, { before, maxRows })).rows
    // Deletes all tombstones of one instant together, so that a step always makes progress.
    const until = kept ? integer(kept, 'erased_at') + 1 : before
    const { count } = await run(sweep, { until })
    if (count > 0) noteDeletion(run)
    return count
  },
}

export function tombstoneStore(engine: Engine<typeof tombstoneTransactions>): TombstoneStore {
  return {
    has: async (trackerId) => (await engine.read(anyOfTracker, { trackerId })).length > 0,
    async refusedUntil(trackerId, digests) {
      const until = toRefusedUntil(await engine.read(latest, { trackerId, digests }))
      return digests.map((digest) => until.get(nameOf(digest)) ?? null)
    },
    async find(tracker, digests, { limit, before }) {
      const parameters = { ...tracker, limit, before: before ?? Number.MAX_SAFE_INTEGER }
      const found = await Promise.all(digests.map((digest) => engine.read(find, { ...parameters, digest })))
      const newestFirst = found
        .flat()
        .map(toTombstone)
        .sort((a, b) => b.ledgerIndex - a.ledgerIndex)
      return newestFirst.slice(0, limit)
    },
    async countWithoutEntry(organisationId, signal) {
      let count = 0
      // No ID is empty, so this precedes every tombstone.
      let after = { trackerId: '', digest: Buffer.alloc(16), ofOrganisation: '', ledgerIndex: 0 }
      for (;;) {
        signal?.throwIfAborted()
        const [row] = await engine.readLong(lastOfStep, { ...after, others: stepRows - 1 })
        if (!row) break
        const last = toTombstone(row)
        const step = {
          ...{ ...after, organisationId, lastTrackerId: last.trackerId, lastDigest: last.digest },
          ...{ lastOrganisation: last.organisationId, lastIndex: last.ledgerIndex },
        }
        count += countIn(await engine.readLong(withoutEntryToLast, step))
        after = { ...last, digest: Buffer.from(last.digest), ofOrganisation: last.organisationId }
        await nextTurn()
      }
      return count + countIn(await engine.readLong(withoutEntryToEnd, { ...after, organisationId }))
    },
    async ofEntries(organisationId, entries) {
      const instants = entries.map(({ erasedAt }) => erasedAt)
      const indexes = entries.map(({ index }) => index)
      return (await engine.read(ofEntries, { organisationId, instants, indexes })).map(toTombstone)
    },
    sweep: (before, maxRows) => engine.transact('sweepTombstones', before, maxRows),
  }
}

function countIn([row = {}]: readonly Row[]): number {
  return integer(row, 'count')
}

/** What a tombstone is looked up by. */
interface Named {
  trackerId: string
  subjectId: string
}

/**
 * Looks up the tombstones of subjects and returns a function that tells until when data of a subject is
 * refused; `null` if it is not. Costs nothing for trackers without tombstones. Throws if the store belongs to
 * a secret that none of the keys comes from.
 */
export async function findTombstones<Subject extends Named>(
  run: Run,
  subjects: readonly Subject[],
  keys: readonly TombstoneKey[],
): Promise<(subject: Subject) => Instant | null> {
  checkKeys((await run(listSecrets)).rows, keys)
  const until = new Map<Subject, Instant>()
  for (const trackerId of new Set(subjects.map((subject) => subject.trackerId))) {
    if ((await run(anyOfTracker, { trackerId })).count === 0) continue
    const subjectOf = new Map<string, Subject>()
    const digests: Uint8Array[] = []
    for (const subject of subjects) {
      if (subject.trackerId !== trackerId) continue
      for (const key of keys) {
        const digest = tombstoneDigest(key, trackerId, subject.subjectId)
        subjectOf.set(nameOf(digest), subject)
        digests.push(digest)
      }
    }
    for (const [name, refusedUntil] of toRefusedUntil((await run(latest, { trackerId, digests })).rows)) {
      const subject = subjectOf.get(name)
      if (subject) until.set(subject, Math.max(refusedUntil, until.get(subject) ?? refusedUntil))
    }
  }
  return (subject) => until.get(subject) ?? null
}

function toRefusedUntil(rows: readonly Row[]): Map<string, Instant> {
  return new Map(rows.map((row) => [nameOf(bytes(row, 'digest')), integer(row, 'refused_until')]))
}

/** Turns a digest into a key of a map. */
function nameOf(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('latin1')
}

export function toTombstone(row: Row): Tombstone {
  return {
    organisationId: text(row, 'organisation_id'),
    trackerId: text(row, 'tracker_id'),
    digest: bytes(row, 'digest'),
    erasedAt: integer(row, 'erased_at'),
    refusedUntil: integer(row, 'refused_until'),
    ledgerIndex: integer(row, 'ledger_index'),
  }
}
