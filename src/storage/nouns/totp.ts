import type { ActivityNote } from '../../domain/activity.ts'
import { outdatesSignIns } from '../../domain/second-factor.ts'
import type { Totp, TotpStore } from '../../domain/totp.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockMember } from './member.ts'
import { dropRecoveryCodes, ensureRecoveryCodes } from './recovery-code.ts'
import { integer, text } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { endOtherSignIns, secondFactorsOf } from './sign-in.ts'
import { statement } from './statement.ts'

const find = statement(
  'SELECT totp_secret, totp_set_at, totp_step FROM members WHERE id = :memberId AND totp_secret IS NOT NULL',
)
const set = statement(
  `UPDATE members SET totp_secret = :sealedSecret, totp_set_at = :setAt, totp_step = :lastStep
   WHERE id = :memberId`,
)
const takeChallenge = statement(
  `DELETE FROM sign_in_challenges WHERE token_hash = :challengeHash AND kind = 'totp-registration'`,
)
const remove = statement(
  `UPDATE members SET totp_secret = NULL, totp_set_at = NULL, totp_step = NULL
   WHERE id = :memberId AND totp_secret IS NOT NULL`,
)

export const totpTransactions = {
  async setTotp(
    run: Run,
    memberId: string,
    totp: Totp,
    { tokenHash, challengeHash, recoveryHashes }: Parameters<TotpStore['set']>[2],
    note: ActivityNote,
  ): Promise<{ codesAdded: boolean } | null> {
    if (!(await lockMember(run, memberId))) return null
    if ((await run(takeChallenge, { challengeHash })).count === 0) return null
    const before = await secondFactorsOf(run, memberId)
    await run(set, { ...totp, memberId })
    if (outdatesSignIns(before, 'totp')) await run(endOtherSignIns, { memberId, tokenHash })
    const codesAdded = await ensureRecoveryCodes(run, memberId, recoveryHashes)
    insertActivity(run, note)
    return { codesAdded }
  },
  async removeTotp(run: Run, memberId: string, note: ActivityNote): Promise<boolean> {
    if (!(await lockMember(run, memberId))) return false
    if ((await run(remove, { memberId })).count === 0) return false
    await dropRecoveryCodes(run, memberId)
    noteDeletion(run)
    insertActivity(run, note)
    return true
  },
}

export function totpStore(engine: Engine<typeof totpTransactions>): TotpStore {
  return {
    async find(memberId) {
      const [row] = await engine.read(find, { memberId })
      if (!row) return null
      return {
        sealedSecret: text(row, 'totp_secret'),
        setAt: integer(row, 'totp_set_at'),
        lastStep: integer(row, 'totp_step'),
      }
    },
    set: (memberId, totp, by, note) => engine.revoke('setTotp', memberId, totp, by, note),
    remove: (memberId, note) => engine.revoke('removeTotp', memberId, note),
  }
}
