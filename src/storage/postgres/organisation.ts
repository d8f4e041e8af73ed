import type { OrganisationStore } from '../../domain/organisation.ts'
import { toOrganisation } from '../rows/organisation.ts'
import { leaveNote } from './activity.ts'
import type { Connections } from './connections.ts'
import { holdWindows } from './retention-window.ts'
import { statement } from './statement.ts'

const columns = 'id, name, plan, created_at'
const insert = statement(
  `INSERT INTO organisations (${columns}) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
)
const remember = statement('INSERT INTO retention_windows (organisation_id, kind, days) VALUES ($1, $2, $3)')
const find = statement(`SELECT ${columns} FROM organisations WHERE id = $1 AND deleted_at IS NULL`)
const list = statement(
  `SELECT ${columns} FROM organisations WHERE deleted_at IS NULL ORDER BY created_at, id`,
)
const setPlan = statement('UPDATE organisations SET plan = $1 WHERE id = $2 AND deleted_at IS NULL')
const rename = statement('UPDATE organisations SET name = $1 WHERE id = $2 AND deleted_at IS NULL')

export function organisationStore(connections: Connections): OrganisationStore {
  return {
    create: ({ id, name, plan, createdAt }, windows = {}) =>
      connections.transaction(async (run) => {
        if ((await run(insert, [id, name, plan, createdAt])).rowCount === 0) return false
        for (const [kind, days] of Object.entries(windows)) run(remember, [id, kind, days])
        return true
      }),
    async find(id) {
      const [row] = await connections.read(find, [id])
      return row ? toOrganisation(row) : null
    },
    list: async () => (await connections.read(list, [])).map(toOrganisation),
    // Whoever deletes by the plan that it has is waited for: with the answer, nobody does any more.
    setPlan: (id, plan, note) =>
      connections.transaction(async (run) => {
        await holdWindows(run)
        const [row] = (await run(find, [id])).rows
        if (!row) return false
        if (toOrganisation(row).plan === plan) return true
        run(setPlan, [plan, id])
        leaveNote(run, note)
        return true
      }),
    rename: (id, name, note) =>
      connections.transaction(async (run) => {
        if ((await run(rename, [name, id])).rowCount === 0) return false
        leaveNote(run, note)
        return true
      }),
  }
}
