import type { ActivityNote } from '../../domain/activity.ts'
import type { Tracker, TrackerRef, TrackerStore } from '../../domain/tracker.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { integer, type Row, text } from './row.ts'
import { statement } from './statement.ts'

const columns = 'id, organisation_id, name, created_at'
const insert = statement(
  `INSERT INTO trackers (${columns}) VALUES (:id, :organisationId, :name, :createdAt) ON CONFLICT DO NOTHING`,
)
const find = statement(`SELECT ${columns} FROM trackers WHERE id = :id AND deleted_at IS NULL`)
const list = statement(
  `SELECT ${columns} FROM trackers WHERE organisation_id = :organisationId AND deleted_at IS NULL ORDER BY created_at, id`,
)
const rename = statement(
  'UPDATE trackers SET name = :name WHERE id = :trackerId AND organisation_id = :organisationId AND deleted_at IS NULL',
)
/** Returns one row if the tracker exists and belongs to the organisation. */
export const visible = statement(
  'SELECT 1 FROM trackers WHERE id = :trackerId AND organisation_id = :organisationId AND deleted_at IS NULL',
)

export const trackerTransactions = {
  async createTracker(run: Run, tracker: Tracker, note?: ActivityNote): Promise<boolean> {
    if (!(await lockOrganisation(run, tracker.organisationId))) return false
    if ((await run(insert, { ...tracker })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async renameTracker(run: Run, tracker: TrackerRef, name: string, note: ActivityNote): Promise<boolean> {
    if ((await run(rename, { ...tracker, name })).count === 0) return false
    insertActivity(run, note)
    return true
  },
}

export function trackerStore(engine: Engine<typeof trackerTransactions>): TrackerStore {
  return {
    create: (tracker, note) => engine.transact('createTracker', tracker, note),
    async find(id) {
      const [row] = await engine.read(find, { id })
      return row ? toTracker(row) : null
    },
    list: async (organisationId) => (await engine.read(list, { organisationId })).map(toTracker),
    rename: (tracker, name, note) => engine.transact('renameTracker', tracker, name, note),
  }
}

/** Tells whether a tracker exists and belongs to the organisation. */
export async function isVisible(
  engine: Pick<Engine, 'read'>,
  { trackerId, organisationId }: TrackerRef,
): Promise<boolean> {
  return (await engine.read(visible, { trackerId, organisationId })).length === 1
}

export function toTracker(row: Row): Tracker {
  return {
    id: text(row, 'id'),
    organisationId: text(row, 'organisation_id'),
    name: text(row, 'name'),
    createdAt: integer(row, 'created_at'),
  }
}
