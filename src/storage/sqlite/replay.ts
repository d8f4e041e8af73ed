import type { DatabaseSync } from 'node:sqlite'
import type { KeyProof } from '../../domain/api-key.ts'
import type { Instant } from '../../domain/instant.ts'
import type { JournalledErasure } from '../../domain/journal-line.ts'
import type { TombstoneKey } from '../../domain/keyring.ts'
import type { HeadKeys } from '../../domain/ledger.ts'
import {
  type AppendedEntries,
  detachedIndex,
  type EndedAccess,
  type MendedLedger,
  type MendedTail,
  type ReplayStore,
} from '../../domain/replay.ts'
import type { SweptCounts } from '../../domain/retention.ts'
import type { Tombstone } from '../../domain/tombstone.ts'
import { erasedAtOf, mendTail } from '../mend-ledger.ts'
import { refusalSql } from '../remove-refused.ts'
import { toStoredHead } from '../rows/ledger.ts'
import { blob, integer, integerOrNull, text } from '../rows/row.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'
import { insertEntry, lastEntry, ledgerAppending } from './ledger.ts'
import { deletionNote } from './scrub.ts'
import { keyCheck } from './secret.ts'
import { digestsOf, tombstoneLookup, tombstoneWriting } from './tombstone.ts'

export function replayStore({ reader, writer }: Connections<ReturnType<typeof replayCommands>>): ReplayStore {
  const nextGuarded = reader.prepare(
    'SELECT tracker_id FROM tombstones WHERE tracker_id > ? ORDER BY tracker_id LIMIT 1',
  )
  return {
    appendEntries: (organisationId, entries, headKeys) =>
      writer.run('appendEntries', organisationId, entries, headKeys),
    addTombstones: (organisationId, entries) => writer.run('addTombstones', organisationId, entries),
    mendLedger: (organisationId, tail, headKeys) => writer.run('mendLedger', organisationId, tail, headKeys),
    async guardedTrackers() {
      const trackers: string[] = []
      for (let row = nextGuarded.get(''); row; row = nextGuarded.get(trackers.at(-1) ?? '')) {
        trackers.push(text(row, 'tracker_id'))
      }
      return trackers
    },
    removeRefused: (trackerId, subjectIds, keys) => writer.run('removeRefused', trackerId, subjectIds, keys),
    revokeKey: (id, at) => writer.run('replayRevocation', id, at),
    rotateKey: (id, proof, at) => writer.run('replayRotation', id, proof, at),
    endAccess: () => writer.run('endAccess'),
  }
}

export function replayCommands(db: DatabaseSync) {
  const revoke = db.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL')
  const rotate = db.prepare(
    `UPDATE api_keys SET hash = ?1, last_four = ?2, rotated_at = ?3
     WHERE id = ?4 AND (rotated_at IS NULL OR rotated_at < ?3)`,
  )
  const endSignIns = db.prepare(`DELETE FROM sign_ins WHERE token_hash > ''`)
  const withdrawLinks = db.prepare(
    `UPDATE members SET invitation_hash = NULL, invitation_expires_at = NULL WHERE invitation_hash > ''`,
  )
  return {
    appendEntries: entryAppending(db),
    addTombstones: detachedTombstones(db),
    mendLedger: ledgerMending(db),
    removeRefused: refusal(db),
    replayRevocation: (id: string, at: Instant): boolean =>
      transaction(db, () => revoke.run(at, id).changes === 1),
    replayRotation: (id: string, { hash, lastFour }: KeyProof, at: Instant): boolean =>
      transaction(db, () => rotate.run(hash, lastFour, at, id).changes === 1),
    endAccess: (): EndedAccess =>
      transaction(db, () => ({
        endedSignIns: Number(endSignIns.run().changes),
        withdrawnLinks: Number(withdrawLinks.run().changes),
      })),
  }
}

function entryAppending(db: DatabaseSync) {
  const isThere = db.prepare('SELECT 1 FROM organisations WHERE id = ?')
  const size = db.prepare(
    'SELECT coalesce(max(ledger_index) + 1, 0) AS size FROM ledger_entries WHERE organisation_id = ?',
  )
  const record = db.prepare(
    'SELECT record FROM ledger_entries WHERE organisation_id = ? AND ledger_index = ?',
  )
  const appending = ledgerAppending(db)
  const bury = tombstoneWriting(db)
  return (
    organisationId: string,
    entries: readonly JournalledErasure[],
    headKeys: HeadKeys,
  ): AppendedEntries | null =>
    transaction(db, () => {
      if (!isThere.get(organisationId)) return null
      const appended = { entries: 0, tombstones: 0, others: 0 }
      const ledgers = appending()
      let next = integer(size.get(organisationId) ?? {}, 'size')
      for (const [i, entry] of entries.entries()) {
        const { index, trackerId, erasedAt, tombstone } = entry
        if (index < next && record.get(organisationId, index)?.record === entry.record) continue
        if (index < next) {
          appended.others = entries.length - i
          break
        }
        ledgers.append(organisationId, entry.record, { headKeys, minEntries: index })
        next += 1
        appended.entries += 1
        if (!tombstone) continue
        bury({ organisationId, trackerId, erasedAt, ledgerIndex: index, ...tombstone })
        appended.tombstones += 1
      }
      return appended
    })
}

function detachedTombstones(db: DatabaseSync) {
  const known = db.prepare(
    'SELECT max(ledger_index) AS ledger_index FROM tombstones WHERE tracker_id = ? AND digest = ? AND organisation_id = ? AND erased_at = ?',
  )
  const bury = tombstoneWriting(db)
  return (organisationId: string, entries: readonly JournalledErasure[]) =>
    transaction(db, () => {
      const result = { added: 0, withoutEntry: 0 }
      for (const { index, trackerId, erasedAt, tombstone } of entries) {
        if (!tombstone) continue
        const at = integerOrNull(
          known.get(trackerId, tombstone.digest, organisationId, erasedAt) ?? {},
          'ledger_index',
        )
        if (at !== null && at >= 0) continue
        result.withoutEntry += 1
        if (at !== null) continue
        bury({ organisationId, trackerId, erasedAt, ledgerIndex: detachedIndex(index), ...tombstone })
        result.added += 1
      }
      return result
    })
}

function ledgerMending(db: DatabaseSync) {
  const last = db.prepare(lastEntry)
  const all = db.prepare('SELECT record FROM ledger_entries WHERE organisation_id = ? ORDER BY ledger_index')
  const cut = db.prepare('DELETE FROM ledger_entries WHERE organisation_id = ? AND ledger_index >= ?')
  const insert = db.prepare(insertEntry)
  const ofEntry = db.prepare(
    'SELECT tracker_id, digest, refused_until FROM tombstones WHERE erased_at = ? AND organisation_id = ? AND ledger_index = ?',
  )
  const remove = db.prepare(
    'DELETE FROM tombstones WHERE tracker_id = ? AND digest = ? AND organisation_id = ? AND ledger_index = ?',
  )
  const bury = tombstoneWriting(db)
  const activity = db.prepare(
    'SELECT at, id, ledger_index FROM activity WHERE organisation_id = ? AND ledger_index >= ?',
  )
  const moveActivity = db.prepare(
    'UPDATE activity SET ledger_index = ? WHERE organisation_id = ? AND at = ? AND id = ?',
  )
  const items = db.prepare(
    `SELECT batch_id, place, ledger_index FROM erasure_batch_items WHERE ledger_index >= ?2
     AND batch_id IN (SELECT id FROM erasure_batches WHERE organisation_id = ?1)`,
  )
  const moveItem = db.prepare(
    'UPDATE erasure_batch_items SET ledger_index = ? WHERE batch_id = ? AND place = ?',
  )
  return (organisationId: string, tail: MendedTail, headKeys: HeadKeys): MendedLedger =>
    transaction(db, () => {
      const { from } = tail
      const row = last.get(organisationId)
      const records = all.all(organisationId).map((each) => text(each, 'record'))
      const entries = mendTail(organisationId, row ? toStoredHead(row) : null, records, tail, headKeys)
      const moved = entries.filter(({ was, index }) => was !== null && was !== index)
      const lines = entries.flatMap(({ index, line }) => (line ? [{ index, line }] : []))
      if (moved.length + lines.length === 0) return { entries: 0, tombstones: 0, moved: 0 }
      const tombstones: Tombstone[] = []
      for (const entry of moved) {
        const erasedAt = erasedAtOf(entry)
        for (const found of ofEntry.all(erasedAt, organisationId, entry.was)) {
          const [trackerId, digest] = [text(found, 'tracker_id'), blob(found, 'digest')]
          const refusedUntil = integer(found, 'refused_until')
          tombstones.push({
            organisationId,
            trackerId,
            digest,
            erasedAt,
            refusedUntil,
            ledgerIndex: entry.index,
          })
          remove.run(trackerId, digest, organisationId, entry.was)
        }
      }
      for (const { index, line } of lines) {
        const { trackerId, erasedAt, tombstone } = line
        if (!tombstone) continue
        remove.run(trackerId, tombstone.digest, organisationId, detachedIndex(line.index))
        tombstones.push({ organisationId, trackerId, erasedAt, ledgerIndex: index, ...tombstone })
      }
      for (const tombstone of tombstones) bury(tombstone)
      cut.run(organisationId, from)
      for (const { index, record, edge, mac } of entries) insert.run(organisationId, index, record, edge, mac)
      const movedTo = new Map(moved.map(({ was, index }) => [was, index]))
      for (const each of activity.all(organisationId, from)) {
        const index = movedTo.get(integer(each, 'ledger_index'))
        if (index !== undefined)
          moveActivity.run(index, organisationId, integer(each, 'at'), text(each, 'id'))
      }
      for (const each of items.all(organisationId, from)) {
        const index = movedTo.get(integer(each, 'ledger_index'))
        if (index !== undefined) moveItem.run(index, text(each, 'batch_id'), integer(each, 'place'))
      }
      const buried = lines.filter(({ line }) => line.tombstone !== null).length
      return { entries: lines.length, tombstones: buried, moved: moved.length }
    })
}

function refusal(db: DatabaseSync) {
  const find = db.prepare(
    'SELECT subject_key, first_seen_at FROM subjects WHERE tracker_id = ? AND subject_id = ?',
  )
  const sql = refusalSql((number) => `?${number}`, 'tracker_id = ?2 AND subject_id = ?3')
  const deleteIdentifiers = db.prepare(sql.deleteIdentifiers)
  const deleteEvents = db.prepare(sql.deleteEvents)
  const deleteSessions = db.prepare(sql.deleteSessions)
  const shortenSessions = db.prepare(sql.shortenSessions)
  const deleteSubject = db.prepare(sql.deleteSubject)
  const updateSubject = db.prepare(sql.updateSubject)
  const lookUp = tombstoneLookup(db)
  const checkKeys = keyCheck(db)
  const noteDeletion = deletionNote(db)
  return (trackerId: string, subjectIds: readonly string[], keys: readonly TombstoneKey[]): SweptCounts =>
    transaction(db, () => {
      checkKeys(keys)
      const removed = { subjects: 0, sessions: 0, events: 0 }
      const refusedUntil = lookUp((subject) => digestsOf(keys, subject))
      for (const subjectId of subjectIds) {
        const until = refusedUntil({ trackerId, subjectId })
        const row = until === null ? undefined : find.get(trackerId, subjectId)
        if (until === null || !row || integer(row, 'first_seen_at') > until) continue
        const key = blob(row, 'subject_key')
        deleteIdentifiers.run(key, until)
        removed.events += Number(deleteEvents.run(key, until).changes)
        removed.sessions += Number(deleteSessions.run(key, until).changes)
        shortenSessions.run(key, until)
        const isGone = deleteSubject.run(key, trackerId, subjectId).changes === 1
        if (isGone) removed.subjects += 1
        else updateSubject.run(key, trackerId, subjectId)
        noteDeletion()
      }
      return removed
    })
}
