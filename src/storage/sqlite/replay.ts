import type { DatabaseSync } from 'node:sqlite'
import type { KeyProof } from '../../domain/api-key.ts'
import type { Instant } from '../../domain/instant.ts'
import type { JournalledErasure } from '../../domain/journal.ts'
import type { TombstoneKey } from '../../domain/keyring.ts'
import type { HeadKeys } from '../../domain/ledger.ts'
import {
  type AppendedEntries,
  type EndedAccess,
  LedgerConflict,
  type ReplayStore,
} from '../../domain/replay.ts'
import type { SweptCounts } from '../../domain/retention.ts'
import { refusalSql } from '../remove-refused.ts'
import { blob, integer, text } from '../rows/row.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'
import { ledgerAppending } from './ledger.ts'
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
      const appended = { entries: 0, tombstones: 0 }
      const ledgers = appending(headKeys)
      let next = integer(size.get(organisationId) ?? {}, 'size')
      for (const entry of entries) {
        const { index, trackerId, erasedAt, tombstone } = entry
        if (index > next) throw LedgerConflict.gap(organisationId, next, index)
        if (index < next) {
          if (record.get(organisationId, index)?.record === entry.record) continue
          throw LedgerConflict.other(organisationId, index)
        }
        ledgers.append(organisationId, entry.record)
        next += 1
        appended.entries += 1
        if (!tombstone) continue
        bury({ organisationId, trackerId, erasedAt, ledgerIndex: index, ...tombstone })
        appended.tombstones += 1
      }
      return appended
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
