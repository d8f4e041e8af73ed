import type { DatabaseSync } from 'node:sqlite'
import { NotWaiting } from '../../domain/erasure-batch.ts'
import type { SubjectPosition, SubjectQuery, SubjectStore, SubjectSummary } from '../../domain/subject.ts'
import type { TrackerRef, TrackerView } from '../../domain/tracker.ts'
import { integer, type Values } from '../nouns/row.ts'
import { subjectPosition, summaryColumns, toSummary } from '../nouns/subject.ts'
import { type PageBuilder, readPage } from '../page.ts'
import { subjectRange } from '../subject-range.ts'
import { snapshot } from './connection.ts'
import type { Connections } from './connections.ts'
import type { erasureCommands } from './erasure.ts'
import { ageing, oldestAt } from './subject-ageing.ts'
import { subjectReading } from './subject-reading.ts'
import { prepareValues, type ValuesStatement } from './values-statement.ts'

const columns = `${summaryColumns}, oldest_at`

export function subjectStore({
  reader,
  writer,
}: Connections<ReturnType<typeof erasureCommands>>): SubjectStore {
  const isVisible = trackerVisibility(reader)
  const count = reader.prepare(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM subjects WHERE tracker_id = ? AND last_seen_at >= ? LIMIT ?)`,
  )
  const lists = new Map<string, ValuesStatement>()
  const withoutAged = ageing(reader)

  function addChunk(
    page: PageBuilder<SubjectSummary, SubjectPosition>,
    view: TrackerView,
    query: SubjectQuery,
    count: number,
  ): readonly Values[] {
    const { conditions, values, order } = subjectRange(view, query)
    const sql = `SELECT ${columns} FROM subjects WHERE ${conditions} ORDER BY ${order} LIMIT ?`
    const statement = lists.get(sql) ?? prepareValues(reader, sql)
    lists.set(sql, statement)
    const read = () => statement.all(...values, count)
    const rows = read()
    const isWhole = rows.every((row) => oldestAt(row) >= view.since)
    if (isWhole) {
      page.addAll(rows, toSummary)
      return rows
    }
    return snapshot(reader, () => {
      const rows = read()
      page.addAll(rows, withoutAged(view))
      return rows
    })
  }

  return {
    list(view, query) {
      if (!isVisible(view)) return null
      return readPage(
        query,
        (page, after, count) => addChunk(page, view, { ...query, after }, count),
        subjectPosition,
      )
    },
    read: subjectReading(reader),
    async count(view, atMost) {
      if (!isVisible(view)) return null
      return integer(count.get(view.trackerId, view.since, atMost) ?? {}, 'count')
    },
    async erase(view, subjectId, mark, note, { item } = {}) {
      const [outcome = null] = await writer.run('eraseSubjects', [{ view, subjectId, mark, note, item }])
      if (outcome === 'not-waiting') throw new NotWaiting()
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }
}

/** Finds a subject that holds data which has not aged out. */
export function subjectPresence(
  db: DatabaseSync,
): (view: TrackerView, subjectId: string) => { isInterleaved: boolean } | null {
  const present = db.prepare(
    'SELECT interleaved FROM subjects WHERE tracker_id = ? AND subject_id = ? AND last_seen_at >= ?',
  )
  return ({ trackerId, since }, subjectId) => {
    const row = present.get(trackerId, subjectId, since)
    return row ? { isInterleaved: row.interleaved === 1 } : null
  }
}

/** Tells whether a tracker exists and is the organisation's. */
export function trackerVisibility(db: DatabaseSync): (tracker: TrackerRef) => boolean {
  const owner = db.prepare('SELECT organisation_id FROM trackers WHERE id = ? AND deleted_at IS NULL')
  return ({ trackerId, organisationId }) => owner.get(trackerId)?.organisation_id === organisationId
}
