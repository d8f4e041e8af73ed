import type { DatabaseSync } from 'node:sqlite'
import type { IncomingRow } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'
import { digestBytes, type TombstoneKey, tombstoneDigest } from '../../domain/keyring.ts'
import { integer, type Row } from '../nouns/row.ts'
import { anyOfTracker } from '../nouns/tombstone.ts'
import { nameOf, type SubjectBatch } from '../rules/ingest-batch.ts'
import type { SqliteRun } from './connections.ts'

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
export function precomputeDigests(
  run: SqliteRun,
): (batch: readonly IncomingRow[], keys: readonly TombstoneKey[]) => BatchDigests | null {
  return (batch, keys) => {
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
export function digestReader(
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
function digestsOf(keys: readonly TombstoneKey[], { trackerId, subjectId }: Named): Buffer[] {
  return keys.map((key) => tombstoneDigest(key, trackerId, subjectId))
}

/** Tells until when what is said of a subject is refused; `null` where nothing is. To be used within a transaction. */
export function tombstoneLookup(
  db: DatabaseSync,
  run: SqliteRun,
): <Subject extends Named>(
  digests: (subject: Subject) => readonly Uint8Array[],
) => (subject: Subject) => Instant | null {
  const all = db.prepare('SELECT refused_until FROM tombstones WHERE tracker_id = ? AND digest = ?')
  return (digests) => {
    // Most trackers have none, and then a subject costs nothing.
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

/** Of rows, mostly none, and of what is known already. */
function latest(rows: readonly Row[], known: Instant | null = null): Instant | null {
  let until = known
  for (const row of rows) until = Math.max(until ?? 0, integer(row, 'refused_until'))
  return until
}

/** Pieces of this size the system takes back when they are let go; of much larger ones, malloc keeps the room. */
const rowsPerPiece = 500
const encoder = new TextEncoder()

/** Rows for the writer thread, as JSON: smaller than what Node makes of them by itself, and read in half the time. */
export function packRows(rows: readonly IncomingRow[]): ArrayBuffer[] {
  const pieces: ArrayBuffer[] = []
  for (let from = 0; from < rows.length; from += rowsPerPiece) {
    pieces.push(encoder.encode(JSON.stringify(rows.slice(from, from + rowsPerPiece))).buffer)
  }
  return pieces
}

/** The rows that were packed. The pieces are empty afterwards. */
export function unpackRows(pieces: readonly ArrayBuffer[]): IncomingRow[] {
  return pieces.flatMap((piece) => {
    const rows: IncomingRow[] = JSON.parse(Buffer.from(piece).toString())
    // Lets go of its memory now, not when garbage is next collected.
    piece.transfer(0)
    return rows
  })
}
