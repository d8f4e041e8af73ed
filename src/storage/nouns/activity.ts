import {
  type ActivityEntry,
  type ActivityNote,
  type ActivityQuery,
  type ActivityStore,
  type Actor,
  activityKinds,
  commandLineActor,
  type ErasureFacts,
} from '../../domain/activity.ts'
import { toPage } from '../rules/page.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { integer, integerOrNull, known, type Row, text, textOrNull } from './row.ts'
import { type NamedValues, type Statement, statement } from './statement.ts'

const columns = `organisation_id, at, id, kind, actor_kind, actor_id, actor_name, target, request_id, sessions, events,
  ledger_index`

export const insertActivityEntry = statement(
  `INSERT INTO activity (${columns}) VALUES (:organisationId, :at, :id, :kind, :actorKind, :actorId, :actorName, :target,
     :requestId, :sessions, :events, :ledgerIndex)`,
)

const ofRequest = (table: string, kind: string) =>
  `SELECT ${columns} FROM ${table} WHERE organisation_id = :organisationId AND target = :id
     AND ${kind} >= 'request.' AND ${kind} < 'request/' ORDER BY at DESC, id DESC LIMIT :limit`
// SQLite is told which index to use, because it prefers the one by kind.
const ofPrivacyRequest = statement(
  ofRequest('activity', 'kind COLLATE "C"'),
  'one',
  ofRequest('activity INDEXED BY activity_by_privacy_request', 'kind'),
)

const oldest = statement('SELECT min(at) AS at FROM activity WHERE organisation_id = :organisationId')

export const activityTransactions = {
  async addActivity(run: Run, note: ActivityNote): Promise<void> {
    if (await lockOrganisation(run, note.organisationId)) insertActivity(run, note)
  },
}

export function activityStore(engine: Engine<typeof activityTransactions>): ActivityStore {
  return {
    add: (note) => engine.transact('addActivity', note),
    async list(organisationId, query) {
      const rows = await engine.read(...activityPage(organisationId, query))
      return toPage(rows.map(toEntry), query.limit, ({ at, id }) => ({ at, id }))
    },
    async oldest(organisationId) {
      const [row = {}] = await engine.read(oldest, { organisationId })
      return integerOrNull(row, 'at')
    },
    ofPrivacyRequest: async (ref, limit) =>
      (await engine.read(ofPrivacyRequest, { ...ref, limit })).map(toEntry),
  }
}

/** Adds an entry within the transaction of the change that it describes. */
export function insertActivity(run: Run, note: ActivityNote | undefined, erasure?: ErasureFacts): void {
  if (note) run(insertActivityEntry, activityParameters(note, erasure))
}

export function activityParameters(note: ActivityNote, erasure?: ErasureFacts): NamedValues {
  const { counts, ledgerIndex } = erasure ?? { counts: null, ledgerIndex: null }
  return {
    ...note,
    ...actorParameters(note.actor),
    sessions: counts?.sessions ?? null,
    events: counts?.events ?? null,
    ledgerIndex,
  }
}

export function actorParameters(actor: Actor): NamedValues {
  const { id, name } = actor.kind === 'command-line' ? { id: null, name: null } : actor
  return { actorKind: actor.kind, actorId: id, actorName: name }
}

/**
 * The statement and parameters for a page of activity, newest first, plus one row that shows whether more
 * follow. SQLite is told which index to use, because it would not choose the narrower one.
 */
function activityPage(
  organisationId: string,
  { kind = null, actor = null, requestId, limit, after, since }: ActivityQuery,
): [Statement, NamedValues] {
  const isByCommand = actor === commandLineActor
  const conditions = ['organisation_id = :organisationId', '(at, id) < (:at, :id)', 'at >= :since']
  if (requestId !== null) conditions.push('request_id = :requestId')
  if (kind !== null) conditions.push('kind = :kind')
  if (actor !== null) conditions.push(isByCommand ? 'actor_id IS NULL' : 'actor_id = :actor')
  const index = requestId !== null ? 'request' : indexOf(kind !== null, actor !== null)
  const from = (table: string) =>
    `SELECT ${columns} FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY at DESC, id DESC LIMIT :count`
  const onSqlite = index === null ? 'activity' : `activity INDEXED BY activity_by_${index}`
  const { at, id } = after ?? { at: Number.MAX_SAFE_INTEGER, id: '' }
  const parameters = {
    organisationId,
    at,
    id,
    since: since ?? Number.MIN_SAFE_INTEGER,
    requestId,
    kind,
    actor,
  }
  return [statement(from('activity'), 'one', from(onSqlite)), { ...parameters, count: limit + 1 }]
}

function indexOf(isOfKind: boolean, isOfActor: boolean): string | null {
  if (isOfActor) return isOfKind ? 'actor_and_kind' : 'actor'
  return isOfKind ? 'kind' : null
}

function toEntry(row: Row): ActivityEntry {
  return {
    id: text(row, 'id'),
    organisationId: text(row, 'organisation_id'),
    at: integer(row, 'at'),
    actor: toActor(row),
    kind: known(activityKinds, row.kind, 'activity of a kind'),
    target: textOrNull(row, 'target'),
    requestId: textOrNull(row, 'request_id'),
    counts:
      row.sessions === null ? null : { sessions: integer(row, 'sessions'), events: integer(row, 'events') },
    ledgerIndex: integerOrNull(row, 'ledger_index'),
  }
}

/** The actor, from columns that several tables share. */
export function toActor(row: Row): Actor {
  const kind = text(row, 'actor_kind')
  if (kind !== 'member' && kind !== 'key') return { kind: 'command-line' }
  return { kind, id: text(row, 'actor_id'), name: text(row, 'actor_name') }
}
