import type { ActivityNote } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import type { AnsweredChallenge, Proof, SecondFactorStore } from '../../domain/second-factor.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisationRow } from './locks.ts'
import { lockMember } from './member.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

const takeChallenge = statement(
  'DELETE FROM sign_in_challenges WHERE token_hash = :challengeHash AND expires_at > :now',
)
const usePasskey = statement(
  `UPDATE passkeys SET sign_count = :signCount, last_used_at = :now
   WHERE id = :id AND member_id = :memberId AND (sign_count < :signCount OR (sign_count = 0 AND :signCount = 0))`,
)
const useTotp = statement(
  `UPDATE members SET totp_step = :step, totp_secret = :sealedSecret
   WHERE id = :memberId AND totp_secret = :storedSecret AND totp_step < :step`,
)
const useRecoveryCode = statement('DELETE FROM recovery_codes WHERE member_id = :memberId AND hash = :hash')

export function secondFactorStore(engine: Engine<typeof secondFactorTransactions>): SecondFactorStore {
  return {
    removeAll: (organisationId, memberId, note) =>
      engine.revoke('removeFactors', organisationId, memberId, note),
  }
}

/**
 * Uses up a challenge and its proof. `false` if either was used meanwhile, or removed. The member must be
 * locked.
 */
export async function useProof(
  run: Run,
  memberId: string,
  { challengeHash, proof }: AnsweredChallenge,
  now: Instant,
): Promise<boolean> {
  const use = uses[proof.kind]
  // A wrong recovery code leaves the challenge, for another attempt.
  if (use !== null && (await run(use, { ...proof, memberId, now })).count === 0) return false
  return challengeHash === null || (await run(takeChallenge, { challengeHash, now })).count === 1
}

export const secondFactorTransactions = {
  async removeFactors(
    run: Run,
    organisationId: string,
    memberId: string,
    note: ActivityNote,
  ): Promise<boolean> {
    await lockOrganisationRow(run, organisationId)
    if (!(await lockMember(run, memberId, organisationId))) return false
    for (const each of removals) await run(each, { memberId })
    noteDeletion(run)
    insertActivity(run, note)
    return true
  },
}

const removals = [
  statement('DELETE FROM sign_ins WHERE member_id = :memberId'),
  statement('DELETE FROM sign_in_challenges WHERE member_id = :memberId'),
  statement('DELETE FROM passkeys WHERE member_id = :memberId'),
  statement('DELETE FROM recovery_codes WHERE member_id = :memberId'),
  statement(
    'UPDATE members SET totp_secret = NULL, totp_set_at = NULL, totp_step = NULL WHERE id = :memberId',
  ),
]

const uses = {
  password: null,
  'single-sign-on': null,
  passkey: usePasskey,
  totp: useTotp,
  'recovery-code': useRecoveryCode,
} satisfies Record<Proof['kind'], unknown>
