import type { ActivityNote } from '../../domain/activity.ts'
import { andThen } from '../../domain/maybe-promise.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import { noVariables } from '../../domain/variable.ts'
import type { VariableReader, VariableToken, VariableTokenStore } from '../../domain/variable-token.ts'
import { insertActivity } from './activity.ts'
import { credentialChanges } from './credential.ts'
import type { Engine, Run } from './engine.ts'
import { lockTracker } from './locks.ts'
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
const { rotate, revoke, touch } = credentialChanges('variable_tokens', 'revoked_at IS NULL')

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
  rotateVariableToken: rotate,
  revokeVariableToken: revoke,
  touchVariableTokens: touch,
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
