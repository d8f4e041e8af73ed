import type { Instant } from '../../domain/instant.ts'
import type { JournalledErasure } from '../../domain/journal-line.ts'
import type { HeadKeys } from '../../domain/ledger.ts'
import {
  type AppendedEntries,
  detachedIndex,
  type MendedLedger,
  type MendedTail,
  type ReplayStore,
} from '../../domain/replay.ts'
import type { Tombstone } from '../../domain/tombstone.ts'
import { erasedAtOf, mendTail } from '../mend-ledger.ts'
import { refusalSql } from '../remove-refused.ts'
import { integer, integerOrNull, text } from '../rows/row.ts'
import type { Connections } from './connections.ts'
import { holdOrganisationRow, takeTurn } from './hold-owner.ts'
import { keyText, subjectKeyText } from './key-text.ts'
import { holdLedger, insertEntry, list } from './ledger.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'
import { findTombstones, insertTombstone, tombstoneValues, toTombstone } from './tombstone.ts'
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

const ofErasure = statement(
  `SELECT max(ledger_index) AS ledger_index FROM tombstones
   WHERE tracker_id = $1 AND digest = $2 AND organisation_id = $3 AND erased_at = $4`,
)
const takeOfEntry = statement(
  'DELETE FROM tombstones WHERE erased_at = $1 AND organisation_id = $2 AND ledger_index = $3 RETURNING *',
  'any',
)
const removeTombstone = statement(
  'DELETE FROM tombstones WHERE tracker_id = $1 AND digest = $2 AND organisation_id = $3 AND ledger_index = $4',
)
const allRecords = statement(
  'SELECT record FROM ledger_entries WHERE organisation_id = $1 ORDER BY ledger_index',
)
const cutLedger = statement('DELETE FROM ledger_entries WHERE organisation_id = $1 AND ledger_index >= $2')
const activityOfEntries = statement(
  'SELECT at, id, ledger_index FROM activity WHERE organisation_id = $1 AND ledger_index >= $2',
)
const moveActivity = statement(
  'UPDATE activity SET ledger_index = $1 WHERE organisation_id = $2 AND at = $3 AND id = $4',
)
const itemsOfEntries = statement(
  `SELECT batch_id, place, ledger_index FROM erasure_batch_items WHERE ledger_index >= $2
   AND batch_id IN (SELECT id FROM erasure_batches WHERE organisation_id = $1)`,
)
const moveItem = statement(
  'UPDATE erasure_batch_items SET ledger_index = $1 WHERE batch_id = $2 AND place = $3',
)

export function replayStore(connections: Connections): ReplayStore {
  return {
    appendEntries: (organisationId, entries, headKeys) =>
      connections.transaction((run) => appendEntries(run, organisationId, entries, headKeys)),
    addTombstones: (organisationId, entries) =>
      connections.transaction((run) => addTombstones(run, organisationId, entries)),
    mendLedger: (organisationId, tail, headKeys) =>
      connections.transaction((run) => mendLedger(run, organisationId, tail, headKeys)),
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
  const appended = { entries: 0, tombstones: 0, others: 0 }
  const [first] = entries
  if (!first) return appended
  const ledger = await holdLedger(run, organisationId, { headKeys, minEntries: first.index })
  const { rows } = await run(list, [organisationId, first.index, entries.length])
  const known = new Map(rows.map((row) => [integer(row, 'ledger_index'), text(row, 'record')]))
  for (const [i, { index, record, trackerId, erasedAt, tombstone }] of entries.entries()) {
    if (index < ledger.tree.size && known.get(index) === record) continue
    if (index < ledger.tree.size) {
      appended.others = entries.length - i
      break
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

async function addTombstones(run: Run, organisationId: string, entries: readonly JournalledErasure[]) {
  const result = { added: 0, withoutEntry: 0 }
  for (const { index, trackerId, erasedAt, tombstone } of entries) {
    if (!tombstone) continue
    const digest = keyText(tombstone.digest)
    const [row] = (await run(ofErasure, [trackerId, digest, organisationId, erasedAt])).rows
    const at = row ? integerOrNull(row, 'ledger_index') : null
    if (at !== null && at >= 0) continue
    result.withoutEntry += 1
    if (at !== null) continue
    const ledgerIndex = detachedIndex(index)
    const left = { organisationId, trackerId, erasedAt, ledgerIndex, ...tombstone }
    await run(insertTombstone, tombstoneValues(left))
    result.added += 1
  }
  return result
}

async function mendLedger(
  run: Run,
  organisationId: string,
  tail: MendedTail,
  headKeys: HeadKeys,
): Promise<MendedLedger> {
  const { from } = tail
  const { stored } = await holdLedger(run, organisationId, { headKeys, minEntries: 0 })
  const records = (await run(allRecords, [organisationId])).rows.map((row) => text(row, 'record'))
  const entries = mendTail(organisationId, stored, records, tail, headKeys)
  const moved = entries.filter(({ was, index }) => was !== null && was !== index)
  const lines = entries.flatMap(({ index, line }) => (line ? [{ index, line }] : []))
  if (moved.length + lines.length === 0) return { entries: 0, tombstones: 0, moved: 0 }
  const tombstones: Tombstone[] = []
  for (const entry of moved) {
    const erasedAt = erasedAtOf(entry)
    for (const row of (await run(takeOfEntry, [erasedAt, organisationId, entry.was])).rows) {
      tombstones.push({ ...toTombstone(row), ledgerIndex: entry.index })
    }
  }
  for (const { index, line } of lines) {
    const { trackerId, erasedAt, tombstone } = line
    if (!tombstone) continue
    await run(removeTombstone, [
      trackerId,
      keyText(tombstone.digest),
      organisationId,
      detachedIndex(line.index),
    ])
    tombstones.push({ organisationId, trackerId, erasedAt, ledgerIndex: index, ...tombstone })
  }
  for (const tombstone of tombstones) await run(insertTombstone, tombstoneValues(tombstone))
  await run(cutLedger, [organisationId, from])
  for (const { index, record, edge, mac } of entries) {
    await run(insertEntry, [organisationId, index, record, edge, mac])
  }
  const movedTo = new Map(moved.map(({ was, index }) => [was, index]))
  for (const row of (await run(activityOfEntries, [organisationId, from])).rows) {
    const index = movedTo.get(integer(row, 'ledger_index'))
    const place = [organisationId, integer(row, 'at'), text(row, 'id')]
    if (index !== undefined) await run(moveActivity, [index, ...place])
  }
  for (const row of (await run(itemsOfEntries, [organisationId, from])).rows) {
    const index = movedTo.get(integer(row, 'ledger_index'))
    const place = [text(row, 'batch_id'), integer(row, 'place')]
    if (index !== undefined) await run(moveItem, [index, ...place])
  }
  const buried = lines.filter(({ line }) => line.tombstone !== null).length
  return { entries: lines.length, tombstones: buried, moved: moved.length }
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
