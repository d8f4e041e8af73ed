import type { DatabaseSync } from 'node:sqlite'
import type { ActivityNote } from '../../domain/activity.ts'
import {
  type ApiKey,
  type ApiKeyStore,
  type KeyDay,
  type KeyProof,
  keptKeyDays,
} from '../../domain/api-key.ts'
import type { Instant } from '../../domain/instant.ts'
import { toApiKey, toCaller, toKeyDay } from '../rows/api-key.ts'
import { integer } from '../rows/row.ts'
import { activityNotes } from './activity.ts'
import { cacheUntilWrite } from './cache-until-write.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'

/** Active at the instant bound to its one parameter. */
const active = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)'

export function apiKeyStore({ reader, writer }: Connections<ReturnType<typeof apiKeyCommands>>): ApiKeyStore {
  const cached = cacheUntilWrite(reader)
  const find = reader.prepare('SELECT * FROM api_keys WHERE id = ?')
  const findCaller = reader.prepare(
    `SELECT api_keys.*, plan FROM api_keys JOIN organisations ON organisations.id = organisation_id
     WHERE api_keys.id = ?`,
  )
  const list = reader.prepare('SELECT * FROM api_keys WHERE organisation_id = ? ORDER BY created_at, id')
  const listDays = reader.prepare('SELECT * FROM key_days WHERE key_id = ? AND day >= ? ORDER BY day')
  return {
    create: (key, hash, note) => writer.run('createApiKey', key, hash, note),
    async find(id) {
      const row = find.get(id)
      return row ? toApiKey(row) : null
    },
    findCaller: cached((id) => {
      const row = findCaller.get(id)
      return row ? toCaller(row) : null
    }),
    list: async (organisationId) => list.all(organisationId).map(toApiKey),
    rotate: (id, proof, now, note) => writer.run('rotateApiKey', id, proof, now, note),
    revoke: (id, now, note) => writer.run('revokeApiKey', id, now, note),
    rename: (key, name, now, note) => writer.run('renameApiKey', key, name, now, note),
    touch: (lastUsed, days = []) => writer.run('touchApiKeys', lastUsed, days),
    listDays: async (keyId, from) => listDays.all(keyId, from).map(toKeyDay),
  }
}

export function apiKeyCommands(db: DatabaseSync) {
  const leaveNote = activityNotes(db)
  const nameTaken = db.prepare(`SELECT 1 FROM api_keys WHERE organisation_id = ? AND name = ? AND ${active}`)
  const insert = db.prepare(
    `INSERT INTO api_keys (id, organisation_id, name, scopes, hash, last_four, created_at, expires_at)
     SELECT ?1, id, ?3, ?4, ?5, ?6, ?7, ?8 FROM organisations WHERE id = ?2 AND deleted_at IS NULL`,
  )
  const rotate = db.prepare(
    `UPDATE api_keys SET hash = ?1, last_four = ?2, rotated_at = max(?3, coalesce(rotated_at + 1, ?3))
     WHERE id = ?4 AND ${active} RETURNING rotated_at`,
  )
  const revoke = db.prepare(`UPDATE api_keys SET revoked_at = ? WHERE id = ? AND ${active}`)
  const nameTakenByOther = db.prepare(
    `SELECT 1 FROM api_keys WHERE organisation_id = ? AND name = ? AND ${active} AND id <> ?`,
  )
  const rename = db.prepare(`UPDATE api_keys SET name = ? WHERE id = ? AND organisation_id = ? AND ${active}`)
  const touch = db.prepare(
    'UPDATE api_keys SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)',
  )
  const countDay = db.prepare(
    `INSERT INTO key_days (key_id, day, requests, refusals) SELECT id, ?2, ?3, ?4 FROM api_keys WHERE id = ?1
     ON CONFLICT (key_id, day) DO UPDATE SET requests = requests + excluded.requests, refusals = refusals + excluded.refusals`,
  )
  const forgetDays = db.prepare('DELETE FROM key_days WHERE key_id = ? AND day <= ?')
  return {
    createApiKey: (key: ApiKey, hash: string, note?: ActivityNote): boolean =>
      transaction(db, () => {
        if (nameTaken.get(key.organisationId, key.name, key.createdAt)) return false
        const scopes = key.scopes.join(' ')
        const { changes } = insert.run(
          key.id,
          key.organisationId,
          key.name,
          scopes,
          hash,
          key.lastFour,
          key.createdAt,
          key.expiresAt,
        )
        if (changes === 1) leaveNote(note)
        return changes === 1
      }),
    rotateApiKey: (
      id: string,
      { hash, lastFour }: KeyProof,
      now: Instant,
      note?: ActivityNote,
    ): Instant | null =>
      transaction(db, () => {
        const row = rotate.get(hash, lastFour, now, id, now)
        if (!row) return null
        leaveNote(note)
        return integer(row, 'rotated_at')
      }),
    revokeApiKey: (id: string, now: Instant, note?: ActivityNote): boolean =>
      transaction(db, () => {
        if (revoke.run(now, id, now).changes === 0) return false
        leaveNote(note)
        return true
      }),
    renameApiKey: (
      { id, organisationId }: Pick<ApiKey, 'id' | 'organisationId'>,
      name: string,
      now: Instant,
      note: ActivityNote,
    ): 'renamed' | 'taken' | 'absent' =>
      transaction(db, () => {
        if (nameTakenByOther.get(organisationId, name, now, id)) return 'taken'
        if (rename.run(name, id, organisationId, now).changes === 0) return 'absent'
        leaveNote(note)
        return 'renamed'
      }),
    touchApiKeys: (lastUsed: ReadonlyMap<string, Instant>, days: readonly KeyDay[]): void =>
      transaction(db, () => {
        for (const [id, at] of lastUsed) touch.run(at, id)
        for (const { keyId, day, requests, refusals } of days) {
          countDay.run(keyId, day, requests, refusals)
          forgetDays.run(keyId, day - keptKeyDays)
        }
      }),
  }
}
