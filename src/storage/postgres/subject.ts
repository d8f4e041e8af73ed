import { batcher } from '../../domain/batcher.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Page } from '../../domain/page.ts'
import { formatRecord } from '../../domain/receipt.ts'
import type {
  ErasedSubject,
  SubjectPosition,
  SubjectQuery,
  SubjectRecord,
  SubjectStore,
  SubjectSummary,
} from '../../domain/subject.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { type PageBuilder, readPage } from '../page.ts'
import { asInteger, integer, integerOrNull, type Values } from '../rows/row.ts'
import { subjectPosition, toRecord, toSummary } from '../rows/subject.ts'
import { subjectRange } from '../subject-range.ts'
import { leaveNote } from './activity.ts'
import type { Connections } from './connections.ts'
import { holdTrackers, takeTurn } from './hold-owner.ts'
import { deleteIdentifiers } from './identifier.ts'
import { subjectKeyText } from './key-text.ts'
import { holdLedger } from './ledger.ts'
import { noteDeletion } from './scrub.ts'
import { numbered, statement } from './statement.ts'
import { asSeen, readOne, recordAsSeen } from './subject-as-seen.ts'
import { leaveTombstone } from './tombstone.ts'
import { isVisible, visible } from './tracker.ts'

const readSeveral = statement(
  `SELECT ${recordAsSeen('asked.since', 's.subject_key')}, asked.number
   FROM unnest($1::bigint[], $2::uuid[], $3::text[]) WITH ORDINALITY AS asked (since, subject_key, organisation_id, number)
   JOIN subjects s USING (subject_key) JOIN trackers t ON t.id = s.tracker_id
   WHERE s.last_seen_at >= asked.since AND t.organisation_id = asked.organisation_id AND t.deleted_at IS NULL`,
  'never',
)
const count = statement(
  `SELECT count(*) AS count FROM (
     SELECT 1 FROM subjects WHERE tracker_id = $1 AND last_seen_at >= $2
     AND EXISTS (SELECT 1 FROM trackers WHERE id = $1 AND organisation_id = $4 AND deleted_at IS NULL) LIMIT $3) AS counted`,
  'any',
)
// Whoever writes to a subject has its row to itself first, so nothing is added to it while it is erased. Others do not wait for the
// row of a subject they cannot see: how long they wait would tell that it is there.
const lock = statement(
  `SELECT oldest_at, last_seen_at FROM subjects WHERE subject_key = $1
   AND EXISTS (SELECT 1 FROM trackers WHERE id = $2 AND organisation_id = $3 AND deleted_at IS NULL) FOR UPDATE`,
)
// Of a subject that is not there a row is made, and deleted with the rest: whoever is storing it just now has to end first, and whoever
// comes later finds the tombstone.
const claim = statement(
  `INSERT INTO subjects (subject_key, tracker_id, subject_id, first_seen_at, last_seen_at, oldest_at, session_count, event_count)
   VALUES ($1, $2, $3, 0, 0, 0, 0, 0) ON CONFLICT (subject_key) DO UPDATE SET oldest_at = subjects.oldest_at`,
)
const newestOf = statement(
  `SELECT greatest((SELECT max(started_at) FROM sessions WHERE subject_key = $1),
     (SELECT max(occurred_at) FROM events WHERE subject_key = $1)) AS newest`,
)
const deleteAgedEvents = statement('DELETE FROM events WHERE subject_key = $1 AND occurred_at < $2')
const deleteEvents = statement('DELETE FROM events WHERE subject_key = $1')
const deleteAgedSessions = statement('DELETE FROM sessions WHERE subject_key = $1 AND ended_at < $2')
const deleteSessions = statement('DELETE FROM sessions WHERE subject_key = $1')
const deleteSubject = statement('DELETE FROM subjects WHERE subject_key = $1')

/** A subject that somebody asks for. */
interface Sought {
  key: string
  organisationId: string
  since: Instant
}

const mostReadTogether = 64

export function subjectStore(connections: Connections): SubjectStore {
  // On a cluster each subject is on a shard of its own.
  const readTogether = batcher(connections.isDistributed ? 1 : mostReadTogether, readAll)

  async function readAll(sought: readonly Sought[]): Promise<(SubjectRecord | null)[]> {
    const [first] = sought
    if (first && sought.length === 1) {
      const [row] = await connections.readValues(readOne, [first.since, first.key, first.organisationId])
      return [row ? toRecord(toSummary(row), row[5], row[6]) : null]
    }
    const found = sought.map((): SubjectRecord | null => null)
    const rows = await connections.readValues(readSeveral, [
      sought.map(({ since }) => since),
      sought.map(({ key }) => key),
      sought.map(({ organisationId }) => organisationId),
    ])
    for (const row of rows) found[asInteger(row[7], 'number') - 1] = toRecord(toSummary(row), row[5], row[6])
    return found
  }

  async function addChunk(
    page: PageBuilder<SubjectSummary, SubjectPosition>,
    view: TrackerView,
    query: SubjectQuery,
    count: number,
  ): Promise<readonly Values[] | null> {
    const { conditions, values, order } = subjectRange(view, query)
    const text = `SELECT ${asSeen('$1', 's.subject_key')} FROM subjects s WHERE ${numbered(conditions, 4)} AND EXISTS
      (SELECT 1 FROM trackers t WHERE t.id = $2 AND t.organisation_id = $3 AND t.deleted_at IS NULL)
      ORDER BY ${order} LIMIT ${numbered('?', 4 + values.length)}`
    const rows = await connections.readValues(statement(text, 'any'), [
      view.since,
      view.trackerId,
      view.organisationId,
      ...values,
      count,
    ])
    // Only an empty list can be one that is not there.
    if (rows.length === 0 && !(await isVisible(connections, view))) return null
    page.addAll(rows, (row) => {
      const summary = toSummary(row)
      return summary.lastSeenAt < view.since ? null : summary
    })
    return rows
  }

  return {
    async list(view, query): Promise<Page<SubjectSummary, SubjectPosition> | null> {
      return readPage(
        query,
        (page, after, count) => addChunk(page, view, { ...query, after }, count),
        subjectPosition,
      )
    },
    read: ({ trackerId, organisationId, since }, subjectId) =>
      readTogether({ key: subjectKeyText(trackerId, subjectId), organisationId, since }),
    async count(view, atMost) {
      const [row] = await connections.read(count, [view.trackerId, view.since, atMost, view.organisationId])
      const counted = integer(row ?? {}, 'count')
      return counted === 0 && !(await isVisible(connections, view)) ? null : counted
    },
    erase: ({ trackerId, organisationId, since }, subjectId, mark, note): Promise<ErasedSubject | null> =>
      connections.transaction(async (run) => {
        const key = subjectKeyText(trackerId, subjectId)
        const [held] = (await run(lock, [key, trackerId, organisationId])).rows
        if (!held) {
          if ((await run(visible, [trackerId, organisationId])).rowCount === 0) return null
          takeTurn(run)
          if (!(await holdTrackers(run, [trackerId])).has(trackerId)) return null
          await run(claim, [key, trackerId, subjectId])
        }
        const { erasedAt, digest, commitment } = mark
        // What happened later than now, by a clock that ran ahead, stays away too. What was stored meanwhile may have.
        const isAhead = !held || integer(held, 'last_seen_at') > erasedAt
        // What has aged out goes before the rest, and uncounted: nobody could see it any more.
        const hasAged = !held || integer(held, 'oldest_at') < since
        const [newest, , , events, sessions, , , ledger] = await Promise.all([
          isAhead ? run(newestOf, [key]) : null,
          hasAged ? run(deleteAgedEvents, [key, since]) : null,
          hasAged ? run(deleteAgedSessions, [key, since]) : null,
          run(deleteEvents, [key]),
          run(deleteSessions, [key]),
          run(deleteIdentifiers, [key]),
          run(deleteSubject, [key]),
          holdLedger(run, organisationId),
        ])
        const counts = { sessions: sessions.rowCount ?? 0, events: events.rowCount ?? 0 }
        const alreadyErased = counts.sessions === 0 && counts.events === 0
        // Sent together with the commit.
        const record = formatRecord({ alreadyErased, counts, erasedAt, subject: commitment, trackerId })
        const ledgerIndex = ledger.append(record)
        const newestAt = newest?.rows[0] ? integerOrNull(newest.rows[0], 'newest') : null
        const refusedUntil = Math.max(erasedAt, newestAt ?? erasedAt)
        leaveTombstone(run, { organisationId, trackerId, digest, erasedAt, refusedUntil, ledgerIndex })
        leaveNote(run, note, { counts, ledgerIndex })
        noteDeletion(run)
        return { counts, record, proof: ledger.tree.prove(ledgerIndex), refusedUntil }
      }),
  }
}
