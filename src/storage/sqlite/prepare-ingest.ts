import type { DatabaseSync } from 'node:sqlite'
import type { IncomingRow } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'
import { digestBytes, type TombstoneKey, tombstoneDigest } from '../../domain/keyring.ts'
import { integer, type Row } from '../nouns/row.ts'
import { anyOfTracker } from '../nouns/tombstone.ts'
import { nameOf } from '../rules/ingest-batch.ts'
import type { SqliteRun } from './connections.ts'

/** The digests that the tombstones of a batch's subjects are looked up by. */
export interface BatchDigests {
  /** The trackers whose subjects are included. */
  trackerIds: readonly string[]
  /** By the number of the subject in the batch, one for each key. */
  digests: ArrayBuffer
}

/**
 * Precomputes digests while the writer is busy with the previous batch: computing one takes as long as a
 * look-up. `null` if no tracker has tombstones, which costs nothing.
 */
export function precomputeDigests(run: SqliteRun) {
  return (batch: readonly IncomingRow[], keys: readonly TombstoneKey[]): BatchDigests | null => {
    const named = new Set(batch.map(({ trackerId }) => trackerId))
    const guarded = new Set([...named].filter((trackerId) => run(anyOfTracker, { trackerId }).count > 0))
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

/**
 * One row for each of a batch's subjects, by number. Rows of one subject are usually adjacent, which saves
 * creating their names.
 */
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

/** Reads the precomputed digests; for subjects of other trackers they are computed now. */
export function digestReader(
  keys: readonly TombstoneKey[],
  made: BatchDigests | null,
): (subject: Numbered) => readonly Uint8Array[] {
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

/** What a tombstone is looked up by. */
interface Named {
  trackerId: string
  subjectId: string
}

/** A subject with its number in the batch. */
interface Numbered extends Named {
  number: number
}

/** The digests of a subject, one for each key. */
function digestsOf(keys: readonly TombstoneKey[], { trackerId, subjectId }: Named): Buffer[] {
  return keys.map((key) => tombstoneDigest(key, trackerId, subjectId))
}

/** Tells until when data of a subject is refused; `null` if it is not. Use it within a transaction. */
export function tombstoneLookup(
  db: DatabaseSync,
  run: SqliteRun,
): <Subject extends Named>(
  digests: (subject: Subject) => readonly Uint8Array[],
) => (subject: Subject) => Instant | null {
  const all = db.prepare('SELECT refused_until FROM tombstones WHERE tracker_id = ? AND digest = ?')
  return (digests) => {
    // Most trackers have no tombstones, and then a subject costs nothing.
    const guarded = new Map<string, boolean>()
    return (subject) => {
      const { trackerId } = subject
      let isGuarded = guarded.get(trackerId)
      if (isGuarded === undefined) {
        isGuarded = run(anyOfTracker, { trackerId }).count > 0
        guarded.set(trackerId, isGuarded)
      }
      if (!isGuarded) return null
      let until: Instant | null = null
      for (const digest of digests(subject)) until = latest(all.all(trackerId, digest), until)
      return until
    }
  }
}

/** The latest instant of the rows, usually none, and of `known`. */
function latest(rows: readonly Row[], known: Instant | null = null): Instant | null {
  let until = known
  for (const row of rows) until = Math.max(until ?? 0, integer(row, 'refused_until'))
  return until
}
