import type { ActivityNote } from '../../domain/activity.ts'
import { andThen } from '../../domain/maybe-promise.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import {
  keptVersions,
  noVariables,
  type VariableSet,
  type VariableStore,
  type VariableVersion,
} from '../../domain/variable.ts'
import { actorParameters, insertActivity, toActor } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockTracker } from './locks.ts'
import { integer, type Row, text } from './row.ts'
import { statement } from './statement.ts'

const columns = 'version, changed_at, actor_kind, actor_id, actor_name, added, changed, removed'

const current = statement(
  `SELECT version, document, digest FROM variable_versions WHERE tracker_id = :trackerId
   ORDER BY version DESC LIMIT 1`,
)
const find = statement(
  'SELECT version, document, digest FROM variable_versions WHERE tracker_id = :trackerId AND version = :version',
)
const listVersions = statement(
  `SELECT ${columns} FROM variable_versions WHERE tracker_id = :trackerId ORDER BY version DESC`,
)
const latest = statement(
  'SELECT coalesce(max(version), 0) AS version FROM variable_versions WHERE tracker_id = :trackerId',
)
const insert = statement(
  `INSERT INTO variable_versions (tracker_id, document, digest, ${columns})
   VALUES (:trackerId, :document, :digest, :version, :changedAt, :actorKind, :actorId, :actorName, :added, :changed,
     :removed)`,
)
const deleteOld = statement(
  'DELETE FROM variable_versions WHERE tracker_id = :trackerId AND version <= :version::bigint - :kept::bigint',
)

export const variableTransactions = {
  async addVariableVersion(
    run: Run,
    tracker: TrackerRef,
    version: VariableVersion,
    set: VariableSet,
    note: ActivityNote,
  ): Promise<'added' | 'stale' | 'absent'> {
    const { trackerId } = tracker
    if (!(await lockTracker(run, tracker))) return 'absent'
    const [row = {}] = (await run(latest, { trackerId })).rows
    if (integer(row, 'version') !== version.version - 1) return 'stale'
    await run(insert, { ...version, ...set, ...actorParameters(version.actor), trackerId })
    await run(deleteOld, { trackerId, version: version.version, kept: keptVersions })
    insertActivity(run, note)
    return 'added'
  },
}

export function variableStore(engine: Engine<typeof variableTransactions>): VariableStore {
  return {
    current: (trackerId) =>
      andThen(engine.read(current, { trackerId }), ([row]) => (row ? toSet(row) : noVariables)),
    async find(trackerId, version) {
      const [row] = await engine.read(find, { trackerId, version })
      return row ? toSet(row) : null
    },
    listVersions: async (trackerId) => (await engine.read(listVersions, { trackerId })).map(toVersion),
    add: (tracker, version, set, note) => engine.transact('addVariableVersion', tracker, version, set, note),
  }
}

function toSet(row: Row): VariableSet {
  return { version: integer(row, 'version'), document: text(row, 'document'), digest: text(row, 'digest') }
}

function toVersion(row: Row): VariableVersion {
  return {
    version: integer(row, 'version'),
    changedAt: integer(row, 'changed_at'),
    actor: toActor(row),
    added: integer(row, 'added'),
    changed: integer(row, 'changed'),
    removed: integer(row, 'removed'),
  }
}
