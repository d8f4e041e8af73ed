import type { DatabaseSync } from 'node:sqlite'
import type { IncomingRow } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'
import { digestBytes, type TombstoneKey, tombstoneDigest } from '../../domain/keyring.ts'
import type { Tombstone, TombstoneStore } from '../../domain/tombstone.ts'
import { nameOf, type SubjectBatch } from '../ingest-batch.ts'
import { blob, integer, type Row, text } from '../rows/row.ts'
import { beyondLedger, newest } from '../rows/tombstone.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'
import { deletionNote } from './scrub.ts'

const anyOf = 'SELECT 1 FROM tombstones WHERE tracker_id = ? LIMIT 1'
/** Looks at every tombstone, for whoever verifies a ledger. */
export const countWithoutEntry = `SELECT count(*) AS count FROM tombstones WHERE organisation_id = ?1 AND (ledger_index < 0 OR ledger_index > (
  SELECT coalesce(max(ledger_index), -1) FROM ledger_entries WHERE organisation_id = ?1))`
const ofSubject = 'SELECT refused_until FROM tombstones WHERE tracker_id = ? AND digest = ?'

export function tombstoneStore({
  reader,
  writer,
}: Connections<ReturnType<typeof tombstoneCommands>>): TombstoneStore {
  const find = reader.prepare(
    `SELECT * FROM tombstones WHERE tracker_id = ? AND digest = ? AND organisation_id = ? AND ledger_index >= 0 AND ledger_index < ?
     ORDER BY ledger_index DESC LIMIT ?`,
  )
  const any = reader.prepare(anyOf)
  const all = reader.prepare(ofSubject)
  const withoutEntry = reader.prepare(countWithoutEntry)
  const ofEntry = reader.prepare(
    'SELECT * FROM tombstones WHERE erased_at = ? AND organisation_id = ? AND ledger_index = ?',
  )
  return {
    ofEntries: async (organisationId, entries) =>
      entries.flatMap(({ index, erasedAt }) => ofEntry.all(erasedAt, organisationId, index)).map(toTombstone),
    countWithoutEntry: async (organisationId) => integer(withoutEntry.get(organisationId) ?? {}, 'count'),
    has: async (trackerId) => any.get(trackerId) !== undefined,
    refusedUntil: async (trackerId, digests) => digests.map((digest) => latest(all.all(trackerId, digest))),
    find: async ({ trackerId, organisationId }, digests, { limit, before }) =>
      newest(
        digests
          .flatMap((digest) => find.all(trackerId, digest, organisationId, before ?? beyondLedger, limit))
          .map(toTombstone),
        limit,
      ),
    sweep: (before, maxRows) => writer.run('sweepTombstones', before, maxRows),
  }
}

export function tombstoneCommands(db: DatabaseSync) {
  const noteDeletion = deletionNote(db)
  const sweep = db.prepare(
    `DELETE FROM tombstones WHERE (tracker_id, digest, organisation_id, ledger_index) IN (
       SELECT tracker_id, digest, organisation_id, ledger_index FROM tombstones
       WHERE erased_at < ? ORDER BY erased_at LIMIT ?)`,
  )
  return {
    sweepTombstones: (before: Instant, maxRows: number): number =>
      transaction(db, () => {
        const swept = Number(sweep.run(before, maxRows).changes)
        if (swept > 0) noteDeletion()
        return swept
      }),
  }
}

/** Leaves a tombstone behind, within the transaction of its erasure. */
export function tombstoneWriting(db: DatabaseSync): (tombstone: Tombstone) => void {
  const insert = db.prepare(
    `INSERT INTO tombstones (tracker_id, digest, organisation_id, ledger_index, erased_at, refused_until)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  return ({ trackerId, digest, organisationId, ledgerIndex, erasedAt, refusedUntil }) => {
    insert.run(trackerId, digest, organisationId, ledgerIndex, erasedAt, refusedUntil)
  }
}

/** What the tombstones of a batch's subjects are looked up by. */
export interface BatchDigests {
  /** Those of the subjects of these trackers are there. */
  trackerIds: readonly string[]
  /** By the numbers of the subjects in the batch, one for each key. */
  digests: ArrayBuffer
}

/**
 * Makes what the tombstones of a batch's subjects will be looked up by, while the writer is busy with the batch before: it takes as long
 * as a look-up. `null` where no tracker has any, which costs nothing.
 */
export function digestMaking(
  db: DatabaseSync,
): (batch: readonly IncomingRow[], keys: readonly TombstoneKey[]) => BatchDigests | null {
  const any = db.prepare(anyOf)
  return (batch, keys) => {
    const named = new Set(batch.map(({ trackerId }) => trackerId))
    const guarded = new Set([...named].filter((trackerId) => any.get(trackerId) !== undefined))
    if (guarded.size === 0) return null
    const subjects = subjectsOf(batch)
    const digests = new Uint8Array(subjects.length * keys.length * digestBytes)
    let at = 0
    for (const { trackerId, subjectId } of subjects) {
      for (const key of keys) {
        if (guarded.has(trackerId)) digests.set(tombstoneDigest(key, trackerId, subjectId), at)
        at += digestBytes
      }
    }
    return { trackerIds: [...guarded], digests: digests.buffer }
  }
}

/** A row of each of a batch's subjects, by their numbers. Rows of one subject mostly stand together, and cost one name then. */
function subjectsOf(batch: readonly IncomingRow[]): Named[] {
  const names = new Set<string>()
  const subjects: Named[] = []
  let before: Named | null = null
  for (const row of batch) {
    if (row.subjectId === before?.subjectId && row.trackerId === before.trackerId) continue
    before = row
    const known = names.size
    if (names.add(nameOf(row)).size > known) subjects.push(row)
  }
  return subjects
}

/** What was made, for those who look up; for the subjects of other trackers it is made now. */
export function digestsMade(
  keys: readonly TombstoneKey[],
  made: BatchDigests | null,
): (subject: SubjectBatch) => readonly Uint8Array[] {
  if (made === null) return (subject) => digestsOf(keys, subject)
  const isMade = new Set(made.trackerIds)
  const bytes = Buffer.from(made.digests)
  return (subject) => {
    if (!isMade.has(subject.trackerId)) return digestsOf(keys, subject)
    const from = subject.number * keys.length
    return keys.map((_, index) =>
      bytes.subarray((from + index) * digestBytes, (from + index + 1) * digestBytes),
    )
  }
}

/** A subject, as far as its tombstones go. */
interface Named {
  trackerId: string
  subjectId: string
}

/** What a subject's tombstones have, one for each key they may have been made with. */
export function digestsOf(keys: readonly TombstoneKey[], { trackerId, subjectId }: Named): Buffer[] {
  return keys.map((key) => tombstoneDigest(key, trackerId, subjectId))
}

/** Tells until when what is said of a subject is refused; `null` where nothing is. To be used within a transaction. */
export function tombstoneLookup(
  db: DatabaseSync,
): <Subject extends Named>(
  digests: (subject: Subject) => readonly Uint8Array[],
) => (subject: Subject) => Instant | null {
  const any = db.prepare(anyOf)
  const all = db.prepare(ofSubject)
  return (digests) => {
    // Most trackers have none, and then a subject costs nothing.
    const guarded = new Map<string, boolean>()
    return (subject) => {
      const { trackerId } = subject
      let isGuarded = guarded.get(trackerId)
      if (isGuarded === undefined) {
        isGuarded = any.get(trackerId) !== undefined
        guarded.set(trackerId, isGuarded)
      }
      if (!isGuarded) return null
      let until: Instant | null = null
      for (const digest of digests(subject)) until = latest(all.all(trackerId, digest), until)
      return until
    }
  }
}

/** Of rows, mostly none, and of what is known already. */
function latest(rows: readonly Row[], known: Instant | null = null): Instant | null {
  let until = known
  for (const row of rows) until = Math.max(until ?? 0, integer(row, 'refused_until'))
  return until
}

function toTombstone(row: Row): Tombstone {
  return {
    organisationId: text(row, 'organisation_id'),
    trackerId: text(row, 'tracker_id'),
    digest: blob(row, 'digest'),
    erasedAt: integer(row, 'erased_at'),
    refusedUntil: integer(row, 'refused_until'),
    ledgerIndex: integer(row, 'ledger_index'),
  }
}
