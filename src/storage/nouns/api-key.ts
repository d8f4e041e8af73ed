import type { ActivityNote } from '../../domain/activity.ts'
import {
  type ApiKey,
  type ApiKeyStore,
  type Caller,
  isScope,
  type KeyDay,
  keyUsageDays,
} from '../../domain/api-key.ts'
import type { Instant } from '../../domain/instant.ts'
import { andThen } from '../../domain/maybe-promise.ts'
import { insertActivity } from './activity.ts'
import { credentialChanges } from './credential.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { toPlan } from './organisation.ts'
import { integer, integerOrNull, type Row, text } from './row.ts'
import { statement } from './statement.ts'

const columns = `api_keys.id, organisation_id, api_keys.name, scopes, hash, last_four, api_keys.created_at, rotated_at,
  expires_at, revoked_at, last_used_at`
const isActive = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)'

const find = statement(`SELECT ${columns} FROM api_keys WHERE id = :id`)
const findCaller = statement(
  `SELECT ${columns}, plan FROM api_keys JOIN organisations ON organisations.id = organisation_id
   WHERE api_keys.id = :id`,
)
const list = statement(
  `SELECT ${columns} FROM api_keys WHERE organisation_id = :organisationId ORDER BY api_keys.created_at, api_keys.id`,
)
const nameTaken = statement(
  `SELECT 1 FROM api_keys WHERE organisation_id = :organisationId AND name = :name AND ${isActive} AND id <> :id`,
)
const insert = statement(
  `INSERT INTO api_keys (id, organisation_id, name, scopes, hash, last_four, created_at, expires_at)
   VALUES (:id, :organisationId, :name, :scopes, :hash, :lastFour, :createdAt, :expiresAt)`,
)
const { rotate, revoke, touch } = credentialChanges('api_keys', isActive)
const rename = statement(
  `UPDATE api_keys SET name = :name WHERE id = :id AND organisation_id = :organisationId AND ${isActive}`,
)
const listDays = statement('SELECT * FROM key_days WHERE key_id = :keyId AND day >= :from ORDER BY day')
const countDay = statement(
  `INSERT INTO key_days AS known (key_id, day, requests, refusals)
   SELECT id, :day::bigint, :requests::bigint, :refusals::bigint FROM api_keys WHERE id = :keyId
   ON CONFLICT (key_id, day) DO UPDATE SET requests = known.requests + excluded.requests,
     refusals = known.refusals + excluded.refusals`,
)
const deleteDays = statement('DELETE FROM key_days WHERE key_id = :keyId AND day <= :day')

export const apiKeyTransactions = {
  async createApiKey(run: Run, key: ApiKey, hash: string, note?: ActivityNote): Promise<boolean> {
    // Serialises two requests that create keys with the same name.
    if (!(await lockOrganisation(run, key.organisationId))) return false
    if ((await run(nameTaken, { ...key, now: key.createdAt })).count !== 0) return false
    await run(insert, { ...key, scopes: key.scopes.join(' '), hash })
    insertActivity(run, note)
    return true
  },
  rotateApiKey: rotate,
  revokeApiKey: revoke,
  async renameApiKey(
    run: Run,
    { id, organisationId }: Pick<ApiKey, 'id' | 'organisationId'>,
    name: string,
    now: Instant,
    note: ActivityNote,
  ): Promise<'renamed' | 'taken' | 'absent'> {
    const parameters = { id, organisationId, name, now }
    await lockOrganisation(run, organisationId)
    if ((await run(nameTaken, parameters)).count !== 0) return 'taken'
    if ((await run(rename, parameters)).count === 0) return 'absent'
    insertActivity(run, note)
    return 'renamed'
  },
  async touchApiKeys(
    run: Run,
    lastUsed: ReadonlyMap<string, Instant>,
    days: readonly KeyDay[],
  ): Promise<void> {
    await touch(run, lastUsed)
    for (const day of [...days].sort(byKeyAndDay)) {
      run(countDay, { ...day })
      run(deleteDays, { keyId: day.keyId, day: day.day - keyUsageDays })
    }
  },
}

export function apiKeyStore(engine: Engine<typeof apiKeyTransactions>): ApiKeyStore {
  return {
    create: (key, hash, note) => engine.transact('createApiKey', key, hash, note),
    async find(id) {
      const [row] = await engine.readCredential(find, { id })
      return row ? toApiKey(row) : null
    },
    findCaller: engine.cacheUntilWrite((id) =>
      andThen(engine.readCredential(findCaller, { id }), ([row]) => (row ? toCaller(row) : null)),
    ),
    list: async (organisationId) => (await engine.read(list, { organisationId })).map(toApiKey),
    rotate: (id, proof, now, note) => engine.revoke('rotateApiKey', id, proof, now, note),
    revoke: (id, now, note) => engine.revoke('revokeApiKey', id, now, note),
    rename: (key, name, now, note) => engine.transact('renameApiKey', key, name, now, note),
    listDays: async (keyId, from) => (await engine.read(listDays, { keyId, from })).map(toKeyDay),
    touch: (lastUsed, days = []) => engine.transact('touchApiKeys', lastUsed, days),
  }
}

function byKeyAndDay(a: KeyDay, b: KeyDay): number {
  if (a.keyId === b.keyId) return a.day - b.day
  return a.keyId < b.keyId ? -1 : 1
}

function toApiKey(row: Row): ApiKey {
  return {
    id: text(row, 'id'),
    organisationId: text(row, 'organisation_id'),
    name: text(row, 'name'),
    scopes: text(row, 'scopes').split(' ').filter(isScope),
    lastFour: text(row, 'last_four'),
    createdAt: integer(row, 'created_at'),
    rotatedAt: integerOrNull(row, 'rotated_at'),
    expiresAt: integerOrNull(row, 'expires_at'),
    revokedAt: integerOrNull(row, 'revoked_at'),
    lastUsedAt: integerOrNull(row, 'last_used_at'),
  }
}

/** From a key joined with the plan of its organisation. */
function toCaller(row: Row): Caller & { hash: string } {
  return { key: toApiKey(row), plan: toPlan(row), hash: text(row, 'hash') }
}

function toKeyDay(row: Row): KeyDay {
  return {
    keyId: text(row, 'key_id'),
    day: integer(row, 'day'),
    requests: integer(row, 'requests'),
    refusals: integer(row, 'refusals'),
  }
}
