import type { Instant } from '../../domain/instant.ts'
import type { JournalledErasure } from '../../domain/journal.ts'
import type { HeadKeys } from '../../domain/ledger.ts'
import { type AppendedEntries, LedgerConflict, type ReplayStore } from '../../domain/replay.ts'
import { refusalSql } from '../remove-refused.ts'
import { integer, text } from '../rows/row.ts'
import type { Connections } from './connections.ts'
import { holdOrganisationRow, takeTurn } from './hold-owner.ts'
import { subjectKeyText } from './key-text.ts'
import { holdLedger, insertEntry, list } from './ledger.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'
import { findTombstones, insertTombstone, tombstoneValues } from './tombstone.ts'
import type { Run } from './transact.ts'

const guarded = statement('SELECT DISTINCT tracker_id FROM tombstones ORDER BY tracker_id', 'any')
const lock = statement('SELECT first_seen_at FROM subjects WHERE subject_key = $1 FOR UPDATE')
const sql = refusalSql((number) => `$${number}`, 'subject_key = $1')
const deleteIdentifiers = statement(sql.deleteIdentifiers)
const deleteEvents = statement(sql.deleteEvents)
const deleteSessions = statement(sql.deleteSessions)
const shortenSessions = statement(sql.shortenSessions)
const deleteSubject = statement(sql.deleteSubject)
const updateSubject = statement(sql.updateSubject)
const revoke = statement('UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL')
const rotate = statement(
  `UPDATE api_keys SET hash = $1, last_four = $2, rotated_at = $3
   WHERE id = $4 AND (rotated_at IS NULL OR rotated_at < $3)`,
)
const endSignIns = statement(`DELETE FROM sign_ins WHERE token_hash > ''`)
const withdrawLinks = statement(
  `UPDATE members SET invitation_hash = NULL, invitation_expires_at = NULL WHERE invitation_hash > ''`,
)

export function replayStore(connections: Connections): ReplayStore {
  return {
    appendEntries: (organisationId, entries, headKeys) =>
      connections.transaction((run) => appendEntries(run, organisationId, entries, headKeys)),
    // Not as a read, which may take only seconds.
    guardedTrackers: () =>
      connections.transaction(async (run) => (await run(guarded)).rows.map((row) => text(row, 'tracker_id'))),
    removeRefused: (trackerId, subjectIds, keys) =>
      connections.transaction(async (run) => {
        const removed = { subjects: 0, sessions: 0, events: 0 }
        const subjects = subjectIds.map((subjectId) => ({ trackerId, subjectId }))
        const refusedUntil = await findTombstones(run, subjects, keys)
        const refused = subjects.flatMap((subject) => {
          const until = refusedUntil(subject)
          return until === null ? [] : [{ key: subjectKeyText(trackerId, subject.subjectId), until }]
        })
        // In one order, so that two transactions do not wait for each other in a circle.
        for (const { key, until } of refused.sort((a, b) => (a.key < b.key ? -1 : 1))) {
          const counts = await removeOne(run, key, until)
          removed.subjects += counts.subjects
          removed.sessions += counts.sessions
          removed.events += counts.events
        }
        return removed
      }),
    revokeKey: (id, at) =>
      connections.revocation(async (run) => (await run(revoke, [at, id])).rowCount === 1),
    rotateKey: (id, { hash, lastFour }, at) =>
      connections.revocation(async (run) => (await run(rotate, [hash, lastFour, at, id])).rowCount === 1),
    endAccess: () =>
      connections.revocation(async (run) => {
        takeTurn(run)
        const [signIns, links] = await Promise.all([run(endSignIns), run(withdrawLinks)])
        return { endedSignIns: signIns.rowCount ?? 0, withdrawnLinks: links.rowCount ?? 0 }
      }),
  }
}

async function appendEntries(
  run: Run,
  organisationId: string,
  entries: readonly JournalledErasure[],
  headKeys: HeadKeys,
): Promise<AppendedEntries | null> {
  if (!(await holdOrganisationRow(run, organisationId))) return null
  const [first] = entries
  if (!first) return { entries: 0, tombstones: 0 }
  const ledger = await holdLedger(run, organisationId, headKeys)
  const { rows } = await run(list, [organisationId, first.index, entries.length])
  const known = new Map(rows.map((row) => [integer(row, 'ledger_index'), text(row, 'record')]))
  const appended = { entries: 0, tombstones: 0 }
  for (const { index, record, trackerId, erasedAt, tombstone } of entries) {
    const next = ledger.tree.size
    if (index > next) throw LedgerConflict.gap(organisationId, next, index)
    if (index < next) {
      if (known.get(index) === record) continue
      throw LedgerConflict.other(organisationId, index)
    }
    run(insertEntry, ledger.append(record).values)
    known.set(index, record)
    appended.entries += 1
    if (!tombstone) continue
    const left = { organisationId, trackerId, erasedAt, ledgerIndex: index, ...tombstone }
    run(insertTombstone, tombstoneValues(left))
    appended.tombstones += 1
  }
  return appended
}

async function removeOne(run: Run, key: string, until: Instant) {
  const [row] = (await run(lock, [key])).rows
  if (!row || integer(row, 'first_seen_at') > until) return { subjects: 0, sessions: 0, events: 0 }
  const [, events, sessions, , subjects] = await Promise.all([
    run(deleteIdentifiers, [key, until]),
    run(deleteEvents, [key, until]),
    run(deleteSessions, [key, until]),
    run(shortenSessions, [key, until]),
    run(deleteSubject, [key]),
    run(updateSubject, [key]),
  ])
  noteDeletion(run)
  return {
    subjects: subjects.rowCount ?? 0,
    sessions: sessions.rowCount ?? 0,
    events: events.rowCount ?? 0,
  }
}
