import type { ActivityNote } from '../../domain/activity.ts'
import type { Organisation, OrganisationStore } from '../../domain/organisation.ts'
import { type Plan, plans, type WindowKind } from '../../domain/retention.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockWindows } from './locks.ts'
import { integer, known, type Row, text } from './row.ts'
import { statement } from './statement.ts'

const columns = 'id, name, plan, created_at'
const insert = statement(
  `INSERT INTO organisations (${columns}) VALUES (:id, :name, :plan, :createdAt) ON CONFLICT DO NOTHING`,
)
const insertWindow = statement(
  'INSERT INTO retention_windows (organisation_id, kind, days) VALUES (:id, :kind, :days)',
)
const find = statement(`SELECT ${columns} FROM organisations WHERE id = :id AND deleted_at IS NULL`)
const list = statement(
  `SELECT ${columns} FROM organisations WHERE deleted_at IS NULL ORDER BY created_at, id`,
)
/** A cheap read that fails if the store cannot be read. */
export const anyOrganisation = statement('SELECT 1 FROM organisations LIMIT 1')
const setPlan = statement('UPDATE organisations SET plan = :plan WHERE id = :id AND deleted_at IS NULL')
const rename = statement('UPDATE organisations SET name = :name WHERE id = :id AND deleted_at IS NULL')

export const organisationTransactions = {
  async createOrganisation(
    run: Run,
    organisation: Organisation,
    windows: Partial<Record<WindowKind, number>> = {},
  ): Promise<boolean> {
    if ((await run(insert, { ...organisation })).count === 0) return false
    for (const [kind, days] of Object.entries(windows)) run(insertWindow, { id: organisation.id, kind, days })
    return true
  },
  async setPlan(run: Run, id: string, plan: Plan, note?: ActivityNote): Promise<boolean> {
    // Waits for transactions that delete by the old plan, so that none does after this one.
    await lockWindows(run)
    const [row] = (await run(find, { id })).rows
    if (!row) return false
    if (toPlan(row) === plan) return true
    run(setPlan, { id, plan })
    insertActivity(run, note)
    return true
  },
  async renameOrganisation(run: Run, id: string, name: string, note: ActivityNote): Promise<boolean> {
    if ((await run(rename, { id, name })).count === 0) return false
    insertActivity(run, note)
    return true
  },
}

export function organisationStore(engine: Engine<typeof organisationTransactions>): OrganisationStore {
  return {
    create: (organisation, windows) => engine.transact('createOrganisation', organisation, windows),
    async find(id) {
      const [row] = await engine.read(find, { id })
      return row ? toOrganisation(row) : null
    },
    list: async () => (await engine.read(list)).map(toOrganisation),
    setPlan: (id, plan, note) => engine.transact('setPlan', id, plan, note),
    rename: (id, name, note) => engine.transact('renameOrganisation', id, name, note),
  }
}

export function toOrganisation(row: Row): Organisation {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    plan: toPlan(row),
    createdAt: integer(row, 'created_at'),
  }
}

export function toPlan(row: Row): Plan {
  return known(plans, row.plan, 'a plan')
}
