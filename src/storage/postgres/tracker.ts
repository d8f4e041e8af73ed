import type { TrackerRef, TrackerStore } from '../../domain/tracker.ts'
import { toTracker } from '../rows/tracker.ts'
import { leaveNote } from './activity.ts'
import type { Connections } from './connections.ts'
import { holdOrganisation, takeTurn } from './hold-owner.ts'
import { statement } from './statement.ts'

const columns = 'id, organisation_id, name, created_at'
const insert = statement(`INSERT INTO trackers (${columns}) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`)
const find = statement(`SELECT ${columns} FROM trackers WHERE id = $1 AND deleted_at IS NULL`)
const list = statement(
  `SELECT ${columns} FROM trackers WHERE organisation_id = $1 AND deleted_at IS NULL ORDER BY created_at, id`,
)
const rename = statement(
  'UPDATE trackers SET name = $1 WHERE id = $2 AND organisation_id = $3 AND deleted_at IS NULL',
)
export const visible = statement(
  'SELECT 1 FROM trackers WHERE id = $1 AND organisation_id = $2 AND deleted_at IS NULL',
)

export function trackerStore(connections: Connections): TrackerStore {
  return {
    create: ({ id, organisationId, name, createdAt }, note) =>
      connections.transaction(async (run) => {
        if (!(await holdOrganisation(run, organisationId))) return false
        if ((await run(insert, [id, organisationId, name, createdAt])).rowCount === 0) return false
        leaveNote(run, note)
        return true
      }),
    async find(id) {
      const [row] = await connections.read(find, [id])
      return row ? toTracker(row) : null
    },
    list: async (organisationId) => (await connections.read(list, [organisationId])).map(toTracker),
    rename: ({ trackerId, organisationId }, name, note) =>
      connections.transaction(async (run) => {
        takeTurn(run)
        if ((await run(rename, [name, trackerId, organisationId])).rowCount === 0) return false
        leaveNote(run, note)
        return true
      }),
  }
}

/** Tells whether a tracker exists and is the organisation's. */
export async function isVisible(
  connections: Connections,
  { trackerId, organisationId }: TrackerRef,
): Promise<boolean> {
  return (await connections.read(visible, [trackerId, organisationId])).length === 1
}
