import type { Instant } from '../../domain/instant.ts'
import {
  type ChallengeKind,
  challengeKinds,
  type FoundChallenge,
  type SignInChallenge,
  type SignInChallengeStore,
} from '../../domain/sign-in-challenge.ts'
import type { Engine, Run } from './engine.ts'
import { lockMember, memberColumns, toMember } from './member.ts'
import { integer, known, type Row, text, textOrNull } from './row.ts'
import { statement } from './statement.ts'

const find = statement(
  `SELECT token_hash, kind, member_id, data, challenges.created_at AS made_at, expires_at, ${memberColumns}
   FROM sign_in_challenges AS challenges LEFT JOIN members ON members.id = member_id
   WHERE token_hash = :tokenHash AND kind = :kind AND expires_at > :now`,
)
const insert = statement(
  `INSERT INTO sign_in_challenges (token_hash, kind, member_id, data, created_at, expires_at)
   VALUES (:tokenHash, :kind, :memberId, :data, :createdAt, :expiresAt)`,
)
const deleteExpired = statement('DELETE FROM sign_in_challenges WHERE expires_at <= :createdAt')
const take = statement(
  'DELETE FROM sign_in_challenges WHERE token_hash = :tokenHash AND kind = :kind AND expires_at > :now',
)

export const signInChallengeTransactions = {
  async createChallenge(run: Run, challenge: SignInChallenge): Promise<boolean> {
    const { memberId } = challenge
    if (memberId !== null && !(await lockMember(run, memberId))) return false
    run(deleteExpired, { ...challenge })
    await run(insert, { ...challenge })
    return true
  },
  async takeChallenge(run: Run, tokenHash: string, kind: ChallengeKind, now: Instant): Promise<boolean> {
    return (await run(take, { tokenHash, kind, now })).count === 1
  },
}

export function signInChallengeStore(
  engine: Engine<typeof signInChallengeTransactions>,
): SignInChallengeStore {
  return {
    create: (challenge) => engine.transact('createChallenge', challenge),
    async find(tokenHash, kind, now) {
      const [row] = await engine.readCredential(find, { tokenHash, kind, now })
      return row ? toFoundChallenge(row) : null
    },
    take: (tokenHash, kind, now) => engine.revoke('takeChallenge', tokenHash, kind, now),
  }
}

function toFoundChallenge(row: Row): FoundChallenge {
  const memberId = textOrNull(row, 'member_id')
  return {
    challenge: {
      tokenHash: text(row, 'token_hash'),
      kind: known(challengeKinds, row.kind, 'a challenge of a kind'),
      memberId,
      data: text(row, 'data'),
      createdAt: integer(row, 'made_at'),
      expiresAt: integer(row, 'expires_at'),
    },
    of: memberId === null ? null : { member: toMember(row), passwordHash: textOrNull(row, 'password_hash') },
  }
}
