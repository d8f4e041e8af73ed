import type { ActivityNote } from '../../domain/activity.ts'
import type { RecoveryCodeStore } from '../../domain/recovery-code.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockMember } from './member.ts'
import { integer } from './row.ts'
import { statement } from './statement.ts'

const count = statement('SELECT count(*) AS codes FROM recovery_codes WHERE member_id = :memberId')
const insert = statement('INSERT INTO recovery_codes (member_id, hash) VALUES (:memberId, :hash)')
const removeAll = statement('DELETE FROM recovery_codes WHERE member_id = :memberId')
const removeWithoutFactor = statement(
  `DELETE FROM recovery_codes WHERE member_id = :memberId
   AND NOT EXISTS (SELECT 1 FROM passkeys WHERE member_id = :memberId)
   AND NOT EXISTS (SELECT 1 FROM members WHERE id = :memberId AND totp_secret IS NOT NULL)`,
)

export const recoveryCodeTransactions = {
  async replaceRecoveryCodes(
    run: Run,
    memberId: string,
    hashes: readonly string[],
    note: ActivityNote,
  ): Promise<void> {
    if (!(await lockMember(run, memberId))) return
    await run(removeAll, { memberId })
    for (const hash of hashes) await run(insert, { memberId, hash })
    insertActivity(run, note)
  },
}

/** Adds codes for a member without any. Returns whether it did. The member must be locked. */
export async function ensureRecoveryCodes(
  run: Run,
  memberId: string,
  hashes: readonly string[],
): Promise<boolean> {
  const [row] = (await run(count, { memberId })).rows
  if (row && integer(row, 'codes') > 0) return false
  for (const hash of hashes) await run(insert, { memberId, hash })
  return true
}

/** Removes the codes of a member who has no second factor any more. */
export async function dropRecoveryCodes(run: Run, memberId: string): Promise<void> {
  await run(removeWithoutFactor, { memberId })
}

export function recoveryCodeStore(engine: Engine<typeof recoveryCodeTransactions>): RecoveryCodeStore {
  return {
    async count(memberId) {
      const [row] = await engine.read(count, { memberId })
      return row ? integer(row, 'codes') : 0
    },
    replace: (memberId, hashes, note) => engine.revoke('replaceRecoveryCodes', memberId, hashes, note),
  }
}
