import type { ActivityNote } from '../../domain/activity.ts'
import type { CredentialProof } from '../../domain/credential.ts'
import type { Instant } from '../../domain/instant.ts'
import { insertActivity } from './activity.ts'
import type { Run } from './engine.ts'
import { integer } from './row.ts'
import { statement } from './statement.ts'

/**
 * The changes of active API keys or variable tokens. `isActive` is a condition that may refer to `:now`. The
 * changes of credentials that are not active have no effect.
 */
export function credentialChanges(table: 'api_keys' | 'variable_tokens', isActive: string) {
  // Rotations are replayed by their timestamps, so each must be later than the one before.
  const setString = statement(
    `UPDATE ${table} SET hash = :hash, last_four = :lastFour,
       rotated_at = CASE WHEN rotated_at >= :now THEN rotated_at + 1 ELSE :now END
     WHERE id = :id AND ${isActive} RETURNING rotated_at`,
  )
  const setRevoked = statement(`UPDATE ${table} SET revoked_at = :now WHERE id = :id AND ${isActive}`)
  const setLastUsed = statement(
    `UPDATE ${table} SET last_used_at = :at WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :at)`,
  )
  return {
    /** Returns the instant of the rotation. */
    async rotate(
      run: Run,
      id: string,
      proof: CredentialProof,
      now: Instant,
      note?: ActivityNote,
    ): Promise<Instant | null> {
      const [row] = (await run(setString, { ...proof, id, now })).rows
      if (!row) return null
      insertActivity(run, note)
      return integer(row, 'rotated_at')
    },
    async revoke(run: Run, id: string, now: Instant, note?: ActivityNote): Promise<boolean> {
      if ((await run(setRevoked, { id, now })).count === 0) return false
      insertActivity(run, note)
      return true
    },
    async touch(run: Run, lastUsed: ReadonlyMap<string, Instant>): Promise<void> {
      // Sorted, so that processes that update the same rows cannot deadlock.
      for (const [id, at] of [...lastUsed].sort(([a], [b]) => (a < b ? -1 : 1))) run(setLastUsed, { id, at })
    },
  }
}
