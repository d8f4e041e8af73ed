import type { Instant } from '../../domain/instant.ts'
import { type TombstoneKey, tombstoneDigest } from '../../domain/keyring.ts'
import type { Tombstone, TombstoneStore } from '../../domain/tombstone.ts'
import type { SubjectBatch } from '../ingest-batch.ts'
import { integer, type Row, text } from '../rows/row.ts'
import { beyondLedger, newest } from '../rows/tombstone.ts'
import type { Connections } from './connections.ts'
import { keyText } from './key-text.ts'
import { noteDeletion } from './scrub.ts'
import { checkKeys } from './secret.ts'
import { statement, type Value } from './statement.ts'
import type { Run } from './transact.ts'

const columns = 'tracker_id, digest, organisation_id, ledger_index, erased_at, refused_until'
const find = statement(
  `SELECT ${columns} FROM tombstones
   WHERE tracker_id = $1 AND digest = $2 AND organisation_id = $3 AND ledger_index >= 0 AND ledger_index < $4
   ORDER BY ledger_index DESC LIMIT $5`,
)
const ofEntries = statement(
  `SELECT ${columns} FROM tombstones WHERE erased_at = ANY ($1) AND organisation_id = $2 AND ledger_index = ANY ($3)`,
  'any',
)
const firstKept = statement(
  'SELECT erased_at FROM tombstones WHERE erased_at < $1 ORDER BY erased_at OFFSET $2 LIMIT 1',
  'any',
)
const withoutEntry = statement(
  `SELECT count(*) AS count FROM tombstones WHERE organisation_id = $1 AND (ledger_index < 0 OR ledger_index > (
     SELECT coalesce(max(ledger_index), -1) FROM ledger_entries WHERE organisation_id = $1))`,
  'any',
)
const sweep = statement('DELETE FROM tombstones WHERE erased_at < $1', 'any')
export const insertTombstone = statement(
  `INSERT INTO tombstones (${columns}) VALUES ($1, $2, $3, $4, $5, $6)`,
)
const anyOf = statement('SELECT 1 FROM tombstones WHERE tracker_id = $1 LIMIT 1', 'any')
const latest = statement(
  `SELECT tracker_id, digest, max(refused_until)::bigint AS refused_until
   FROM unnest($1::text[], $2::uuid[]) AS given (tracker_id, digest) JOIN tombstones USING (tracker_id, digest)
   GROUP BY tracker_id, digest`,
  'any',
)

export function tombstoneStore(connections: Connections): TombstoneStore {
  return {
    has: async (trackerId) => (await connections.read(anyOf, [trackerId])).length > 0,
    async refusedUntil(trackerId, digests) {
      const keys = digests.map(keyText)
      const rows = await connections.read(latest, [keys.map(() => trackerId), keys])
      const until = new Map(rows.map((row) => [text(row, 'digest'), integer(row, 'refused_until')]))
      return keys.map((key) => until.get(key) ?? null)
    },
    async find({ trackerId, organisationId }, digests, { limit, before }) {
      const until = before ?? beyondLedger
      const found = await Promise.all(
        digests.map((digest) =>
          connections.read(find, [trackerId, keyText(digest), organisationId, until, limit]),
        ),
      )
      return newest(found.flat().map(toTombstone), limit)
    },
    async countWithoutEntry(organisationId) {
      // Not as a read, which may take only seconds.
      const { rows } = await connections.transaction((run) => run(withoutEntry, [organisationId]))
      return integer(rows[0] ?? {}, 'count')
    },
    async ofEntries(organisationId, entries) {
      const instants = entries.map(({ erasedAt }) => erasedAt)
      const indexes = entries.map(({ index }) => index)
      return (await connections.read(ofEntries, [instants, organisationId, indexes])).map(toTombstone)
    },
    sweep: (before, maxRows) =>
      connections.transaction(async (run) => {
        const [kept] = (await run(firstKept, [before, maxRows])).rows
        // Those of one instant go together, so that a step never finds nothing.
        const until = kept ? integer(kept, 'erased_at') + 1 : before
        const swept = (await run(sweep, [until])).rowCount ?? 0
        if (swept > 0) noteDeletion(run)
        return swept
      }),
  }
}

/** With which values a tombstone is inserted, within the transaction of its erasure. */
export function tombstoneValues(tombstone: Tombstone): Value[] {
  const { trackerId, digest, organisationId, ledgerIndex, erasedAt, refusedUntil } = tombstone
  return [trackerId, keyText(digest), organisationId, ledgerIndex, erasedAt, refusedUntil]
}

/** A subject, as far as its tombstones go. */
type Named = Pick<SubjectBatch, 'trackerId' | 'subjectId'>

/** Tells until when what is said of a subject is refused; `null` where nothing is. */
export type RefusedUntil<Subject extends Named = SubjectBatch> = (subject: Subject) => Instant | null

/**
 * Looks up the tombstones of subjects, as they are now. Costs nothing for those of trackers that have none. Throws when some of them may
 * have been made with a secret that none of the keys comes from.
 */
export async function findTombstones<Subject extends Named>(
  run: Run,
  subjects: readonly Subject[],
  keys: readonly TombstoneKey[],
): Promise<RefusedUntil<Subject>> {
  await checkKeys(run, keys)
  const trackers = [...new Set(subjects.map(({ trackerId }) => trackerId))]
  const isGuarded = new Set<string>()
  for (const id of trackers) if ((await run(anyOf, [id])).rowCount === 1) isGuarded.add(id)
  const subjectOf = new Map<string, Subject>()
  for (const subject of subjects) {
    if (!isGuarded.has(subject.trackerId)) continue
    for (const key of keys) {
      const digest = tombstoneDigest(key, subject.trackerId, subject.subjectId)
      subjectOf.set(keyText(digest), subject)
    }
  }
  const until = new Map<Subject, Instant>()
  if (subjectOf.size > 0) {
    const digests = [...subjectOf.keys()]
    const named = [...subjectOf.values()].map(({ trackerId }) => trackerId)
    for (const row of (await run(latest, [named, digests])).rows) {
      const subject = subjectOf.get(text(row, 'digest'))
      const refusedUntil = integer(row, 'refused_until')
      if (subject) until.set(subject, Math.max(refusedUntil, until.get(subject) ?? refusedUntil))
    }
  }
  return (subject) => until.get(subject) ?? null
}

export function toTombstone(row: Row): Tombstone {
  return {
    organisationId: text(row, 'organisation_id'),
    trackerId: text(row, 'tracker_id'),
    digest: Buffer.from(text(row, 'digest').replaceAll('-', ''), 'hex'),
    erasedAt: integer(row, 'erased_at'),
    refusedUntil: integer(row, 'refused_until'),
    ledgerIndex: integer(row, 'ledger_index'),
  }
}
