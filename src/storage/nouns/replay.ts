import type { DataCounts } from '../../domain/activity.ts'
import type { CredentialKind } from '../../domain/credential.ts'
import type { JournalledEntry, JournalledRevocation, JournalledRotation } from '../../domain/journal-line.ts'
import type { TombstoneKey } from '../../domain/keyring.ts'
import type { HeadKeys, Tombstone } from '../../domain/ledger.ts'
import {
  type AppendedEntries,
  detachedIndex,
  type EndedWork,
  type ItemOfEntry,
  type MendedLedger,
  type MendedTail,
  type ReplayStore,
} from '../../domain/replay.ts'
import { subjectKey } from '../../domain/subject.ts'
import { instantOfEntry, mendTail } from '../rules/mend-ledger.ts'
import type { Engine, Run } from './engine.ts'
import { insertEntry, listEntries, lockLedger } from './ledger.ts'
import { lockOrganisationRow } from './locks.ts'
import type { replayClosingTransactions } from './replay-closing.ts'
import { integer, integerOrNull, type Row, text } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { type Statement, statement } from './statement.ts'
import { findTombstones, insertTombstone, toTombstone } from './tombstone.ts'

const nextGuarded = statement(
  'SELECT tracker_id FROM tombstones WHERE tracker_id > :after ORDER BY tracker_id LIMIT 1',
  'any',
)
const revoke = (table: string) =>
  statement(`UPDATE ${table} SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL`)
const rotate = (table: string) =>
  statement(
    `UPDATE ${table} SET hash = :hash, last_four = :lastFour, rotated_at = :at
     WHERE id = :id AND (rotated_at IS NULL OR rotated_at < :at)`,
  )
const credentialChanges: Record<CredentialKind, { revoke: Statement; rotate: Statement }> = {
  key: { revoke: revoke('api_keys'), rotate: rotate('api_keys') },
  'variable-token': { revoke: revoke('variable_tokens'), rotate: rotate('variable_tokens') },
}
const stopErasures = statement(
  `UPDATE privacy_requests SET state = 'open', actor_kind = NULL, actor_id = NULL, actor_name = NULL, request_id = NULL,
     holder = NULL, resumes_at = NULL, searches = 0, searched_at = NULL WHERE state = 'running' AND runs_at >= 0`,
)
// An open request searches again when it is started, without the records that were excluded until then.
const forgetWaiting = statement(
  `DELETE FROM privacy_request_items WHERE outcome = 'waiting' AND organisation_id > ''`,
)
const endSignIns = statement(`DELETE FROM sign_ins WHERE token_hash > ''`)
const dropChallenges = statement(`DELETE FROM sign_in_challenges WHERE token_hash > ''`)
const removeCodes = statement(`DELETE FROM recovery_codes WHERE member_id > ''`)
const withdrawLinks = statement(
  `UPDATE members SET invitation_hash = NULL, invitation_expires_at = NULL WHERE invitation_hash > ''`,
)

const ofErasure = statement(
  `SELECT max(ledger_index) AS ledger_index FROM tombstones
   WHERE tracker_id = :trackerId AND digest = :digest AND organisation_id = :organisationId AND erased_at = :erasedAt`,
)
const takeOfEntry = statement(
  `DELETE FROM tombstones WHERE erased_at = :erasedAt AND organisation_id = :organisationId AND ledger_index = :was
   RETURNING *`,
  'any',
)
const removeTombstone = statement(
  `DELETE FROM tombstones WHERE tracker_id = :trackerId AND digest = :digest AND organisation_id = :organisationId
   AND ledger_index = :ledgerIndex`,
)
const allRecords = statement(
  'SELECT record FROM ledger_entries WHERE organisation_id = :organisationId ORDER BY ledger_index',
)
const cutLedger = statement(
  'DELETE FROM ledger_entries WHERE organisation_id = :organisationId AND ledger_index >= :from',
)
const activityOfEntries = statement(
  'SELECT at, id, ledger_index FROM activity WHERE organisation_id = :organisationId AND ledger_index >= :from',
)
const moveActivity = statement(
  'UPDATE activity SET ledger_index = :index WHERE organisation_id = :organisationId AND at = :at AND id = :id',
)
const requestItemsOfEntries = statement(
  `SELECT request_id, place, ledger_index, sealed_nonce FROM privacy_request_items
   WHERE organisation_id = :organisationId AND ledger_index >= :from`,
)
const moveRequestItem = statement(
  `UPDATE privacy_request_items SET ledger_index = :index
   WHERE organisation_id = :organisationId AND request_id = :id AND place = :place`,
)
// What a tombstone refuses of one subject. PostgreSQL finds the subject's row by its key, SQLite by the two
// IDs.
const ownRow = 'subject_key = :key AND tracker_id = :trackerId AND subject_id = :subjectId'
const lockSubject = statement(`SELECT first_seen_at FROM subjects WHERE ${ownRow} FOR UPDATE`)
const ofSession = 'subject_key = :key AND session_id = sessions.session_id'
const begunBefore = 'subject_key = :key AND started_at <= :until'
// Includes identifiers of a session that began before and ended later, because that session is refused too.
// Better one too many.
const deleteIdentifiers = statement(
  `DELETE FROM identifiers WHERE subject_key = :key AND (brought_at <= :until
     OR brought_at <= (SELECT max(attributes_at) FROM sessions WHERE ${begunBefore}))`,
)
const deleteEvents = statement('DELETE FROM events WHERE subject_key = :key AND occurred_at <= :until')
const deleteSessions = statement(
  `DELETE FROM sessions WHERE ${begunBefore} AND NOT EXISTS (SELECT 1 FROM events WHERE ${ofSession})`,
)
// What remains is what later events would have created: their span, without attributes.
const shortenSessions = statement(
  `UPDATE sessions SET attributes = '{}', attributes_at = NULL,
     started_at = (SELECT min(occurred_at) FROM events WHERE ${ofSession}),
     ended_at = (SELECT max(occurred_at) FROM events WHERE ${ofSession}),
     event_count = (SELECT count(*) FROM events WHERE ${ofSession}) WHERE ${begunBefore}`,
)
const deleteSubject = statement(
  `DELETE FROM subjects WHERE ${ownRow} AND NOT EXISTS (SELECT 1 FROM sessions WHERE subject_key = :key)`,
)
// Nothing that remains happened before the first start.
const left = (value: string, table: string) => `(SELECT ${value} FROM ${table} WHERE subject_key = :key)`
const updateSubject = statement(
  `UPDATE subjects SET first_seen_at = ${left('min(started_at)', 'sessions')},
     last_seen_at = ${left('max(ended_at)', 'sessions')}, oldest_at = ${left('min(started_at)', 'sessions')},
     session_count = ${left('count(*)', 'sessions')}, event_count = ${left('count(*)', 'events')} WHERE ${ownRow}`,
)

export const replayTransactions = {
  async appendEntries(
    run: Run,
    organisationId: string,
    entries: readonly JournalledEntry[],
    headKeys: HeadKeys,
  ): Promise<AppendedEntries | null> {
    if (!(await lockOrganisationRow(run, organisationId))) return null
    const appended = { entries: 0, tombstones: 0, others: 0 }
    const [first] = entries
    if (!first) return appended
    const ledger = await lockLedger(run, organisationId, { headKeys, minEntries: first.index })
    const range = { organisationId, from: first.index, limit: entries.length }
    const { rows } = await run(listEntries, range)
    const known = new Map(rows.map((row) => [integer(row, 'ledger_index'), text(row, 'record')]))
    for (const [i, { index, record, at, tombstone }] of entries.entries()) {
      if (index < ledger.tree.size && known.get(index) === record) continue
      if (index < ledger.tree.size) {
        appended.others = entries.length - i
        break
      }
      run(insertEntry, ledger.append(record))
      known.set(index, record)
      appended.entries += 1
      if (!tombstone) continue
      run(insertTombstone, { organisationId, erasedAt: at, ledgerIndex: index, ...tombstone })
      appended.tombstones += 1
    }
    return appended
  },
  async addTombstones(run: Run, organisationId: string, entries: readonly JournalledEntry[]) {
    const result = { added: 0, withoutEntry: 0 }
    for (const { index, at: erasedAt, tombstone } of entries) {
      if (!tombstone) continue
      const erasure = { organisationId, erasedAt, ...tombstone }
      const [row] = (await run(ofErasure, erasure)).rows
      const found = row ? integerOrNull(row, 'ledger_index') : null
      if (found !== null && found >= 0) continue
      result.withoutEntry += 1
      if (found !== null) continue
      await run(insertTombstone, { ...erasure, ledgerIndex: detachedIndex(index) })
      result.added += 1
    }
    return result
  },
  async mendLedger(
    run: Run,
    organisationId: string,
    tail: MendedTail,
    headKeys: HeadKeys,
  ): Promise<MendedLedger> {
    const { from } = tail
    const { stored } = await lockLedger(run, organisationId, { headKeys, minEntries: 0 })
    const records = (await run(allRecords, { organisationId })).rows.map((row) => text(row, 'record'))
    const entries = mendTail(organisationId, stored, records, tail, headKeys)
    const moved = entries.filter(({ was, index }) => was !== null && was !== index)
    const lines = entries.flatMap(({ index, line }) => (line ? [{ index, line }] : []))
    if (moved.length + lines.length === 0) return { entries: 0, tombstones: 0, moved: 0 }
    const tombstones: Tombstone[] = []
    for (const entry of moved) {
      const place = { organisationId, erasedAt: instantOfEntry(entry), was: entry.was }
      for (const row of (await run(takeOfEntry, place)).rows) {
        tombstones.push({ ...toTombstone(row), ledgerIndex: entry.index })
      }
    }
    for (const { index, line } of lines) {
      const { at: erasedAt, tombstone } = line
      if (!tombstone) continue
      const erasure = { organisationId, erasedAt, ...tombstone }
      await run(removeTombstone, { ...erasure, ledgerIndex: detachedIndex(line.index) })
      tombstones.push({ ...erasure, ledgerIndex: index })
    }
    for (const tombstone of tombstones) await run(insertTombstone, { ...tombstone })
    await run(cutLedger, { organisationId, from })
    for (const { index, record, edge, mac } of entries) {
      await run(insertEntry, { organisationId, ledgerIndex: index, record, edge, mac })
    }
    await moveReferences(run, organisationId, from, new Map(moved.map(({ was, index }) => [was, index])))
    const added = lines.filter(({ line }) => line.tombstone !== null).length
    return { entries: lines.length, tombstones: added, moved: moved.length }
  },
  async moveItems(run: Run, organisationId: string, items: readonly ItemOfEntry[]): Promise<void> {
    for (const { requestId, position, ledgerIndex } of items)
      await run(moveRequestItem, { organisationId, id: requestId, place: position, index: ledgerIndex })
  },
  async removeRefused(
    run: Run,
    trackerId: string,
    subjectIds: readonly string[],
    keys: readonly TombstoneKey[],
  ): Promise<DataCounts> {
    const removed = { subjects: 0, sessions: 0, events: 0 }
    const subjects = subjectIds.map((subjectId) => {
      const key = Buffer.from(subjectKey(trackerId, subjectId))
      return { trackerId, subjectId, key }
    })
    const refusedUntil = await findTombstones(run, subjects, keys)
    // In one order, so that two transactions cannot deadlock.
    for (const subject of subjects.sort((a, b) => a.key.compare(b.key))) {
      const until = refusedUntil(subject)
      const [row] = until === null ? [] : (await run(lockSubject, subject)).rows
      if (until === null || !row || integer(row, 'first_seen_at') > until) continue
      const [, events, sessions, , gone] = await Promise.all([
        run(deleteIdentifiers, { ...subject, until }),
        run(deleteEvents, { ...subject, until }),
        run(deleteSessions, { ...subject, until }),
        run(shortenSessions, { ...subject, until }),
        run(deleteSubject, subject),
        run(updateSubject, subject),
      ])
      noteDeletion(run)
      removed.subjects += gone.count
      removed.sessions += sessions.count
      removed.events += events.count
    }
    return removed
  },
  async replayRevocation(run: Run, revocation: JournalledRevocation): Promise<boolean> {
    return (await run(credentialChanges[revocation.credential].revoke, { ...revocation })).count === 1
  },
  async replayRotation(run: Run, rotation: JournalledRotation): Promise<boolean> {
    return (await run(credentialChanges[rotation.credential].rotate, { ...rotation })).count === 1
  },
  async endUnfinished(run: Run): Promise<EndedWork> {
    run(dropChallenges)
    if ((await run(forgetWaiting)).count !== 0) noteDeletion(run)
    const ending = [run(stopErasures), run(endSignIns), run(withdrawLinks), run(removeCodes)] as const
    const [stopped, ended, withdrawn, removed] = await Promise.all(ending)
    return {
      ...{ stoppedErasures: stopped.count, endedSignIns: ended.count },
      ...{ withdrawnLinks: withdrawn.count, removedRecoveryCodes: removed.count },
    }
  },
}

export function replayStore(
  engine: Engine<typeof replayTransactions & typeof replayClosingTransactions>,
): ReplayStore {
  return {
    appendEntries: (organisationId, entries, headKeys) =>
      engine.transact('appendEntries', organisationId, entries, headKeys),
    addTombstones: (organisationId, entries) => engine.transact('addTombstones', organisationId, entries),
    mendLedger: (organisationId, tail, headKeys) =>
      engine.transact('mendLedger', organisationId, tail, headKeys),
    async itemsOfEntries(organisationId) {
      const rows = await engine.readLong(requestItemsOfEntries, { organisationId, from: 0 })
      return rows.map(toItemOfEntry)
    },
    moveItems: (organisationId, items) => engine.transact('moveItems', organisationId, items),
    async guardedTrackers() {
      const trackers: string[] = []
      for (;;) {
        const [row] = await engine.readLong(nextGuarded, { after: trackers.at(-1) ?? '' })
        if (!row) return trackers
        trackers.push(text(row, 'tracker_id'))
      }
    },
    removeRefused: (trackerId, subjectIds, keys) =>
      engine.transact('removeRefused', trackerId, subjectIds, keys),
    revoke: (revocation) => engine.revoke('replayRevocation', revocation),
    rotate: (rotation) => engine.revoke('replayRotation', rotation),
    closeRequest: (lines, keptSince) => engine.transact('replayClosing', lines, keptSince),
    endUnfinished: () => engine.revoke('endUnfinished'),
  }
}

function toItemOfEntry(row: Row): ItemOfEntry {
  return {
    requestId: text(row, 'request_id'),
    position: integer(row, 'place'),
    ledgerIndex: integer(row, 'ledger_index'),
    sealedNonce: text(row, 'sealed_nonce'),
  }
}

/** Updates everything that refers to ledger entries whose index has changed. */
async function moveReferences(
  run: Run,
  organisationId: string,
  from: number,
  movedTo: ReadonlyMap<number | null, number>,
): Promise<void> {
  for (const row of (await run(activityOfEntries, { organisationId, from })).rows) {
    const index = movedTo.get(integer(row, 'ledger_index'))
    const place = { organisationId, at: integer(row, 'at'), id: text(row, 'id') }
    if (index !== undefined) await run(moveActivity, { ...place, index })
  }
  for (const row of (await run(requestItemsOfEntries, { organisationId, from })).rows) {
    const index = movedTo.get(integer(row, 'ledger_index'))
    const place = { organisationId, id: text(row, 'request_id'), place: integer(row, 'place') }
    if (index !== undefined) await run(moveRequestItem, { ...place, index })
  }
}
