import type { DatabaseSync } from 'node:sqlite'
import type { ActivityNote } from '../../domain/activity.ts'
import type { Organisation, OrganisationStore } from '../../domain/organisation.ts'
import type { Plan } from '../../domain/plan.ts'
import type { WindowKind } from '../../domain/retention-window.ts'
import { toOrganisation } from '../rows/organisation.ts'
import { activityNotes } from './activity.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'

export function organisationStore({
  reader,
  writer,
}: Connections<ReturnType<typeof organisationCommands>>): OrganisationStore {
  const find = reader.prepare('SELECT * FROM organisations WHERE id = ? AND deleted_at IS NULL')
  const list = reader.prepare('SELECT * FROM organisations WHERE deleted_at IS NULL ORDER BY created_at, id')
  return {
    create: (organisation, windows) => writer.run('createOrganisation', organisation, windows),
    async find(id) {
      const row = find.get(id)
      return row ? toOrganisation(row) : null
    },
    list: async () => list.all().map(toOrganisation),
    setPlan: (id, plan, note) => writer.run('setPlan', id, plan, note),
    rename: (id, name, note) => writer.run('renameOrganisation', id, name, note),
  }
}

export function organisationCommands(db: DatabaseSync) {
  const insert = db.prepare(
    'INSERT INTO organisations (id, name, plan, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const remember = db.prepare('INSERT INTO retention_windows (organisation_id, kind, days) VALUES (?, ?, ?)')
  const find = db.prepare('SELECT plan FROM organisations WHERE id = ? AND deleted_at IS NULL')
  const setPlan = db.prepare('UPDATE organisations SET plan = ? WHERE id = ?')
  const rename = db.prepare('UPDATE organisations SET name = ? WHERE id = ? AND deleted_at IS NULL')
  const leaveNote = activityNotes(db)
  return {
    createOrganisation: (
      { id, name, plan, createdAt }: Organisation,
      windows: Partial<Record<WindowKind, number>> = {},
    ): boolean =>
      transaction(db, () => {
        if (insert.run(id, name, plan, createdAt).changes === 0) return false
        for (const [kind, days] of Object.entries(windows)) remember.run(id, kind, days)
        return true
      }),
    setPlan: (id: string, plan: Plan, note?: ActivityNote): boolean =>
      transaction(db, () => {
        const before = find.get(id)
        if (!before) return false
        setPlan.run(plan, id)
        if (before.plan !== plan) leaveNote(note)
        return true
      }),
    renameOrganisation: (id: string, name: string, note: ActivityNote): boolean =>
      transaction(db, () => {
        if (rename.run(name, id).changes === 0) return false
        leaveNote(note)
        return true
      }),
  }
}
