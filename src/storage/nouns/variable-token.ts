import type { ActivityNote } from '../../domain/activity.ts'
import type { CredentialProof } from '../../domain/credential.ts'
import type { Instant } from '../../domain/instant.ts'
import { andThen } from '../../domain/maybe-promise.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import { noVariables } from '../../domain/variable.ts'
import type { VariableReader, VariableToken, VariableTokenStore } from '../../domain/variable-token.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockReferenceTables, lockTracker } from './locks.ts'
import { integer, integerOrNull, type Row, text, textOrNull } from './row.ts'
import { statement } from './statement.ts'

const columns = `variable_tokens.id, tracker_id, variable_tokens.name, last_four, variable_tokens.created_at,
  rotated_at, revoked_at, last_used_at`
const withTracker = 'variable_tokens JOIN trackers ON trackers.id = tracker_id AND deleted_at IS NULL'

const find = statement(
  `SELECT ${columns}, organisation_id FROM ${withTracker} WHERE variable_tokens.id = :id`,
)
const findReader = statement(
  `SELECT variable_tokens.id, tracker_id, organisation_id, hash,
     (SELECT digest FROM variable_versions WHERE variable_versions.tracker_id = variable_tokens.tracker_id
      ORDER BY version DESC LIMIT 1) AS digest
   FROM ${withTracker} WHERE variable_tokens.id = :id AND revoked_at IS NULL`,
)
const list = statement(
  `SELECT ${columns} FROM variable_tokens WHERE tracker_id = :trackerId ORDER BY created_at, id`,
)
const nameTaken = statement(
  'SELECT 1 FROM variable_tokens WHERE tracker_id = :trackerId AND name = :name AND revoked_at IS NULL',
)
const insert = statement(
  `INSERT INTO variable_tokens (id, tracker_id, name, hash, last_four, created_at)
   VALUES (:id, :trackerId, :name, :hash, :lastFour, :createdAt)`,
)
// Rotations are replayed by their timestamps, so each must be later than the one before.
const rotate = statement(
  `UPDATE variable_tokens SET hash = :hash, last_four = :lastFour,
     rotated_at = CASE WHEN rotated_at >= :now THEN rotated_at + 1 ELSE :now END
   WHERE id = :id AND revoked_at IS NULL RETURNING rotated_at`,
)
const revoke = statement('UPDATE variable_tokens SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL')
const touch = statement(
  `UPDATE variable_tokens SET last_used_at = :at
   WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :at)`,
)

export const variableTokenTransactions = {
  async createVariableToken(
    run: Run,
    tracker: TrackerRef,
    token: VariableToken,
    hash: string,
    note: ActivityNote,
  ): Promise<'created' | 'taken' | 'absent'> {
    if (!(await lockTracker(run, tracker))) return 'absent'
    if ((await run(nameTaken, { ...token })).count !== 0) return 'taken'
    await run(insert, { ...token, hash })
    insertActivity(run, note)
    return 'created'
  },
  async rotateVariableToken(
    run: Run,
    id: string,
    proof: CredentialProof,
    now: Instant,
    note: ActivityNote,
  ): Promise<Instant | null> {
    lockReferenceTables(run)
    const [row] = (await run(rotate, { ...proof, id, now })).rows
    if (!row) return null
    insertActivity(run, note)
    return integer(row, 'rotated_at')
  },
  async revokeVariableToken(run: Run, id: string, now: Instant, note: ActivityNote): Promise<boolean> {
    lockReferenceTables(run)
    if ((await run(revoke, { id, now })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async touchVariableTokens(run: Run, lastUsed: ReadonlyMap<string, Instant>): Promise<void> {
    lockReferenceTables(run)
    // Sorted, so that processes that update the same tokens cannot deadlock.
    for (const [id, at] of [...lastUsed].sort(([a], [b]) => (a < b ? -1 : 1))) run(touch, { id, at })
  },
}

export function variableTokenStore(engine: Engine<typeof variableTokenTransactions>): VariableTokenStore {
  return {
    create: (tracker, token, hash, note) =>
      engine.transact('createVariableToken', tracker, token, hash, note),
    async find(id) {
      const [row] = await engine.readCredential(find, { id })
      return row ? { ...toToken(row), organisationId: text(row, 'organisation_id') } : null
    },
    findReader: engine.cacheUntilWrite((id) =>
      andThen(engine.readCredential(findReader, { id }), ([row]) => (row ? toReader(row) : null)),
    ),
    list: async (trackerId) => (await engine.read(list, { trackerId })).map(toToken),
    rotate: (id, proof, now, note) => engine.revoke('rotateVariableToken', id, proof, now, note),
    revoke: (id, now, note) => engine.revoke('revokeVariableToken', id, now, note),
    touch: (lastUsed) => engine.transact('touchVariableTokens', lastUsed),
  }
}

function toToken(row: Row): VariableToken {
  return {
    id: text(row, 'id'),
    trackerId: text(row, 'tracker_id'),
    name: text(row, 'name'),
    lastFour: text(row, 'last_four'),
    createdAt: integer(row, 'created_at'),
    rotatedAt: integerOrNull(row, 'rotated_at'),
    revokedAt: integerOrNull(row, 'revoked_at'),
    lastUsedAt: integerOrNull(row, 'last_used_at'),
  }
}

function toReader(row: Row): VariableReader & { hash: string } {
  return {
    tokenId: text(row, 'id'),
    trackerId: text(row, 'tracker_id'),
    organisationId: text(row, 'organisation_id'),
    digest: textOrNull(row, 'digest') ?? noVariables.digest,
    hash: text(row, 'hash'),
  }
}
