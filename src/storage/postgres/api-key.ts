import { type ApiKeyStore, keptKeyDays } from '../../domain/api-key.ts'
import { toApiKey, toCaller, toKeyDay } from '../rows/api-key.ts'
import { integer } from '../rows/row.ts'
import { leaveNote } from './activity.ts'
import type { Connections } from './connections.ts'
import { holdOrganisation, takeTurn } from './hold-owner.ts'
import { statement } from './statement.ts'

const columns = [
  'api_keys.id, organisation_id, api_keys.name, scopes, hash, last_four, api_keys.created_at, rotated_at',
  'expires_at, revoked_at, last_used_at',
].join(', ')
/** Active at the instant in the parameter with this number. */
const activeAt = (parameter: number) =>
  `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $${parameter})`

const find = statement(`SELECT ${columns} FROM api_keys WHERE id = $1`)
const findCaller = statement(
  `SELECT ${columns}, plan FROM api_keys JOIN organisations ON organisations.id = organisation_id
   WHERE api_keys.id = $1`,
)
const list = statement(
  `SELECT ${columns} FROM api_keys WHERE organisation_id = $1 ORDER BY api_keys.created_at, api_keys.id`,
)
const nameTaken = statement(
  `SELECT 1 FROM api_keys WHERE organisation_id = $1 AND name = $2 AND ${activeAt(3)}`,
)
const insert = statement(
  `INSERT INTO api_keys (id, organisation_id, name, scopes, hash, last_four, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
)
const rotate = statement(
  `UPDATE api_keys SET hash = $1, last_four = $2, rotated_at = greatest($3::bigint, rotated_at + 1)
   WHERE id = $4 AND ${activeAt(3)} RETURNING rotated_at`,
)
const revoke = statement(`UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND ${activeAt(1)}`)
const nameTakenByOther = statement(
  `SELECT 1 FROM api_keys WHERE organisation_id = $1 AND name = $2 AND ${activeAt(3)} AND id <> $4`,
)
const rename = statement(
  `UPDATE api_keys SET name = $1 WHERE id = $2 AND organisation_id = $4 AND ${activeAt(3)}`,
)
const touch = statement(
  'UPDATE api_keys SET last_used_at = $1 WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $1)',
)

const listDays = statement('SELECT * FROM key_days WHERE key_id = $1 AND day >= $2 ORDER BY day')
const countDay = statement(
  `INSERT INTO key_days AS known (key_id, day, requests, refusals)
   SELECT id, $2::bigint, $3::bigint, $4::bigint FROM api_keys WHERE id = $1
   ON CONFLICT (key_id, day) DO UPDATE SET requests = known.requests + excluded.requests,
     refusals = known.refusals + excluded.refusals`,
)
const forgetDays = statement('DELETE FROM key_days WHERE key_id = $1 AND day <= $2')

export function apiKeyStore(connections: Connections): ApiKeyStore {
  return {
    create: (key, hash, note) =>
      connections.transaction(async (run) => {
        const { id, organisationId, name, scopes, lastFour, createdAt, expiresAt } = key
        // Two keys that get the same name concurrently wait for each other here.
        if (!(await holdOrganisation(run, organisationId))) return false
        if ((await run(nameTaken, [organisationId, name, createdAt])).rowCount !== 0) return false
        await run(insert, [id, organisationId, name, scopes.join(' '), hash, lastFour, createdAt, expiresAt])
        leaveNote(run, note)
        return true
      }),
    async find(id) {
      const [row] = await connections.readCredential(find, [id])
      return row ? toApiKey(row) : null
    },
    async findCaller(id) {
      const [row] = await connections.readCredential(findCaller, [id])
      return row ? toCaller(row) : null
    },
    list: async (organisationId) => (await connections.read(list, [organisationId])).map(toApiKey),
    rotate: (id, { hash, lastFour }, now, note) =>
      connections.revocation(async (run) => {
        takeTurn(run)
        const [row] = (await run(rotate, [hash, lastFour, now, id])).rows
        if (!row) return null
        leaveNote(run, note)
        return integer(row, 'rotated_at')
      }),
    revoke: (id, now, note) =>
      connections.revocation(async (run) => {
        takeTurn(run)
        if ((await run(revoke, [now, id])).rowCount === 0) return false
        leaveNote(run, note)
        return true
      }),
    rename: ({ id, organisationId }, name, now, note) =>
      connections.transaction(async (run) => {
        await holdOrganisation(run, organisationId)
        if ((await run(nameTakenByOther, [organisationId, name, now, id])).rowCount !== 0) return 'taken'
        if ((await run(rename, [name, id, now, organisationId])).rowCount === 0) return 'absent'
        leaveNote(run, note)
        return 'renamed'
      }),
    listDays: async (keyId, from) => (await connections.read(listDays, [keyId, from])).map(toKeyDay),
    touch: (lastUsed, days = []) =>
      connections.transaction(async (run) => {
        takeTurn(run)
        // In one order, so that processes that note the same keys do not wait for each other in a circle.
        const uses = [...lastUsed].sort(([a], [b]) => (a < b ? -1 : 1))
        await Promise.all(uses.map(([id, at]) => run(touch, [at, id])))
        const inOrder = [...days].sort((a, b) =>
          a.keyId < b.keyId ? -1 : a.keyId > b.keyId ? 1 : a.day - b.day,
        )
        for (const { keyId, day, requests, refusals } of inOrder) {
          run(countDay, [keyId, day, requests, refusals])
          run(forgetDays, [keyId, day - keptKeyDays])
        }
      }),
  }
}
