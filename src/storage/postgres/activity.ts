import type { ActivityNote, ActivityStore, ErasureFacts } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import type { SweepStep } from '../../domain/retention.ts'
import { toPage } from '../page.ts'
import { activityPage, noteColumns, noteValues, toEntry } from '../rows/activity.ts'
import { integer, text } from '../rows/row.ts'
import type { Connections } from './connections.ts'
import { holdOrganisation, takeTurn } from './hold-owner.ts'
import { findSweptBefore, readSweptBefore } from './retention-window.ts'
import { noteDeletion } from './scrub.ts'
import { numbered, statement } from './statement.ts'
import type { Run } from './transact.ts'

const columns = noteColumns.join(', ')
export const insertNote = statement(
  `INSERT INTO activity (${columns}) VALUES (${noteColumns.map((_, index) => `$${index + 1}`).join(', ')})`,
)

const before = 'FROM activity WHERE organisation_id = $1 AND at < $2'
const anyBefore = statement(`SELECT 1 ${before} LIMIT 1`)
const countBefore = statement(`SELECT count(*) AS count ${before}`)
const entryBeyond = statement(`SELECT at, id ${before} ORDER BY at, id LIMIT 1 OFFSET $3`)
const deleteUpTo = statement('DELETE FROM activity WHERE organisation_id = $1 AND (at, id) < ($2, $3)')

export function activityStore(connections: Connections): ActivityStore {
  return {
    add: (note) =>
      connections.transaction(async (run) => {
        if (await holdOrganisation(run, note.organisationId)) leaveNote(run, note)
      }),
    async list(organisationId, query) {
      const { sql, values } = activityPage(organisationId, query)
      const rows = await connections.read(statement(numbered(sql, 1)), values)
      return toPage(rows.map(toEntry), query.limit, ({ at, id }) => ({ at, id }))
    },
  }
}

/** Leaves an entry behind, within the transaction of the change it tells of. */
export function leaveNote(run: Run, note: ActivityNote | undefined, erasure?: ErasureFacts): void {
  if (note) run(insertNote, noteValues(note, erasure))
}

/** Deletes the earliest entries that have aged out, in one transaction. */
export async function sweepActivity(
  connections: Connections,
  organisationId: string,
  step: SweepStep,
): Promise<{ entries: number; isDone: boolean }> {
  const likelySince = await findSweptBefore(connections, 'activity', organisationId, step)
  const nothing = { entries: 0, isDone: true }
  if (likelySince === null) return nothing
  if ((await connections.read(anyBefore, [organisationId, likelySince])).length === 0) return nothing
  return connections.transaction(async (run) => {
    const since = await readSweptBefore(run, 'activity', organisationId, step)
    if (since === null) return nothing
    takeTurn(run)
    const [beyond] = (await run(entryBeyond, [organisationId, since, step.maxRows])).rows
    const until = beyond ? [integer(beyond, 'at'), text(beyond, 'id')] : [since, '']
    const entries = (await run(deleteUpTo, [organisationId, ...until])).rowCount ?? 0
    if (entries > 0) noteDeletion(run)
    return { entries, isDone: !beyond }
  })
}

export function countActivityBefore(
  connections: Connections,
  organisationId: string,
  since: Instant,
): Promise<number> {
  return connections.transaction(async (run) =>
    integer((await run(countBefore, [organisationId, since])).rows[0] ?? {}, 'count'),
  )
}
