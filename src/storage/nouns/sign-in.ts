import type { ActivityNote } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import {
  type AnsweredChallenge,
  missingFactor,
  needsSecondStep,
  type SecondFactors,
} from '../../domain/second-factor.ts'
import {
  idleTimeoutMs,
  type RenewedToken,
  type SignedIn,
  type SignIn,
  type SignInStore,
  signInMethods,
} from '../../domain/sign-in.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockMember, toMember } from './member.ts'
import { toPlan } from './organisation.ts'
import { integer, known, type Row, text, textOrNull } from './row.ts'
import { useProof } from './second-factor.ts'
import { toSecondFactorRule } from './sign-in-rules.ts'
import { statement } from './statement.ts'

const factorColumns = `totp_set_at, (SELECT count(*) FROM passkeys WHERE passkeys.member_id = members.id) AS passkeys,
     (SELECT second_factor FROM sign_in_rules AS rules WHERE rules.organisation_id = members.organisation_id) AS second_factor`
const find = statement(
  `SELECT token_hash, sign_ins.id AS sign_in_id, member_id, method, started_at, last_seen_at, verified_at, device, address,
     members.id, organisation_id, email, role, members.created_at, password_set_at, oidc_subject, language,
     organisations.name AS organisation_name, plan, organisations.created_at AS organisation_created_at,
     ${factorColumns}
   FROM sign_ins JOIN members ON members.id = member_id JOIN organisations ON organisations.id = organisation_id
   WHERE token_hash = :tokenHash`,
)
const findFactors = statement(`SELECT ${factorColumns} FROM members WHERE id = :memberId`)
// Locks the member, so that a password set at the same time either ends this sign-in or prevents it.
const lockUnchanged = statement(
  'SELECT 1 FROM members WHERE id = :memberId AND password_set_at IS NOT DISTINCT FROM :passwordSetAt FOR UPDATE',
)
const insert = statement(
  `INSERT INTO sign_ins (token_hash, id, member_id, method, started_at, last_seen_at, verified_at, device, address)
   VALUES (:tokenHash, :id, :memberId, :method, :startedAt, :lastSeenAt, :verifiedAt, :device, :address)`,
)
const deleteIdle = statement('DELETE FROM sign_ins WHERE last_seen_at <= :before')
const deleteAhead = statement('DELETE FROM sign_ins WHERE last_seen_at >= :after')
const touch = statement(
  'UPDATE sign_ins SET last_seen_at = :now WHERE token_hash = :tokenHash AND last_seen_at < :now',
)
const renew = statement(
  `UPDATE sign_ins SET token_hash = :to, verified_at = :verifiedAt, last_seen_at = :now
   WHERE token_hash = :from AND member_id = :memberId`,
)
const end = statement('DELETE FROM sign_ins WHERE token_hash = :tokenHash')
const endAll = statement('DELETE FROM sign_ins WHERE member_id = :memberId')
export const endOtherSignIns = statement(
  'DELETE FROM sign_ins WHERE member_id = :memberId AND token_hash <> :tokenHash',
)
const list = statement(
  `SELECT token_hash, id AS sign_in_id, member_id, method, started_at, last_seen_at, verified_at, device, address
   FROM sign_ins WHERE member_id = :memberId`,
)

export const signInTransactions = {
  async beginSignIn(
    run: Run,
    signIn: SignIn,
    passwordSetAt: Instant | null,
    note: ActivityNote,
    answered: AnsweredChallenge | null,
    replaces: string | null,
  ): Promise<boolean> {
    const { memberId, startedAt } = signIn
    if ((await run(lockUnchanged, { memberId, passwordSetAt })).count === 0) return false
    // A factor may have been added since it was decided that the first step is enough.
    if (!answered && needsSecondStep(await secondFactorsOf(run, memberId), signIn.method)) return false
    if (answered && !(await useProof(run, memberId, answered, startedAt))) return false
    if (replaces !== null) await run(end, { tokenHash: replaces })
    await run(insert, { ...signIn })
    await run(deleteIdle, { before: startedAt - idleTimeoutMs })
    await run(deleteAhead, { after: startedAt + idleTimeoutMs })
    insertActivity(run, note)
    return true
  },
  async verifySignIn(
    run: Run,
    renewed: RenewedToken,
    memberId: string,
    answered: AnsweredChallenge,
    note: ActivityNote,
  ): Promise<boolean> {
    if (!(await lockMember(run, memberId))) return false
    const { proof } = answered
    const verifiedAt = proof.kind === 'single-sign-on' ? proof.verifiedAt : note.at
    if (!(await useProof(run, memberId, answered, note.at))) return false
    if ((await run(renew, { ...renewed, memberId, now: note.at, verifiedAt })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async touchSignIn(run: Run, tokenHash: string, now: Instant): Promise<void> {
    await run(touch, { tokenHash, now })
  },
  async endSignIn(run: Run, tokenHash: string, note: ActivityNote): Promise<boolean> {
    if ((await run(end, { tokenHash })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async endAllSignIns(run: Run, memberId: string, note: ActivityNote): Promise<void> {
    await run(endAll, { memberId })
    insertActivity(run, note)
  },
  async endOtherSignIns(run: Run, memberId: string, tokenHash: string, note: ActivityNote): Promise<void> {
    await run(endOtherSignIns, { memberId, tokenHash })
    insertActivity(run, note)
  },
}

export function signInStore(engine: Engine<typeof signInTransactions>): SignInStore {
  return {
    begin: (signIn, passwordSetAt, note, { answered = null, replaces = null } = {}) =>
      engine.transact('beginSignIn', signIn, passwordSetAt, note, answered, replaces),
    verify: (renewed, memberId, answered, note) =>
      engine.revoke('verifySignIn', renewed, memberId, answered, note),
    async find(tokenHash) {
      const [row] = await engine.readCredential(find, { tokenHash })
      return row ? toSignedIn(row) : null
    },
    touch: (tokenHash, now) => engine.transact('touchSignIn', tokenHash, now),
    end: (tokenHash, note) => engine.revoke('endSignIn', tokenHash, note),
    endAll: (memberId, note) => engine.revoke('endAllSignIns', memberId, note),
    endOthers: (memberId, tokenHash, note) => engine.revoke('endOtherSignIns', memberId, tokenHash, note),
    list: async (memberId) => (await engine.read(list, { memberId })).map(toSignIn),
  }
}

/** From a sign-in joined with its member and the member's organisation. */
function toSignedIn(row: Row): SignedIn {
  const member = toMember(row)
  const signIn = toSignIn(row)
  return {
    missingFactor: missingFactor(toSecondFactors(row), signIn.method),
    signIn,
    member,
    organisation: {
      id: member.organisationId,
      name: text(row, 'organisation_name'),
      plan: toPlan(row),
      createdAt: integer(row, 'organisation_created_at'),
    },
  }
}

function toSecondFactors(row: Row): SecondFactors {
  const rule = row.second_factor === null ? 'optional' : toSecondFactorRule(row.second_factor)
  return { rule, hasPasskey: integer(row, 'passkeys') > 0, hasTotp: row.totp_set_at !== null }
}

/** The member must exist, and be locked. */
export async function secondFactorsOf(run: Run, memberId: string): Promise<SecondFactors> {
  const [row] = (await run(findFactors, { memberId })).rows
  if (!row) throw new Error('A locked member is gone.')
  return toSecondFactors(row)
}

function toSignIn(row: Row): SignIn {
  return {
    tokenHash: text(row, 'token_hash'),
    id: text(row, 'sign_in_id'),
    memberId: text(row, 'member_id'),
    method: known(signInMethods, row.method, 'a sign-in method'),
    startedAt: integer(row, 'started_at'),
    lastSeenAt: integer(row, 'last_seen_at'),
    verifiedAt: integer(row, 'verified_at'),
    device: textOrNull(row, 'device'),
    address: textOrNull(row, 'address'),
  }
}
