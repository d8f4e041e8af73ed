import type { ActivityNote } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import { type Language, languages } from '../../domain/language.ts'
import {
  type AdminAccess,
  allows,
  type Invitation,
  isLastAdmin,
  type Member,
  type MemberStore,
  type PasswordChange,
  type Role,
  roles,
} from '../../domain/member.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation, lockOrganisationRow } from './locks.ts'
import { unassign } from './request-handling.ts'
import { integer, integerOrNull, known, type Row, text, textOrNull } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

export const memberColumns = `members.id, organisation_id, email, role, members.created_at, password_hash, password_set_at,
  oidc_subject, language`
const find = statement(
  `SELECT ${memberColumns} FROM members WHERE id = :id AND organisation_id = :organisationId`,
)
const byEmail = statement(
  `SELECT ${memberColumns} FROM members
   WHERE email = :email AND (:organisationId::text IS NULL OR organisation_id = :organisationId) LIMIT 2`,
)
const list = statement(
  `SELECT ${memberColumns} FROM members WHERE organisation_id = :organisationId ORDER BY created_at, id`,
)
// An identity provider connects people by their address, so admins with nothing else might not get in.
const listAdmins = statement(
  `SELECT id, CASE WHEN oidc_subject IS NOT NULL
       OR EXISTS (SELECT 1 FROM passkeys WHERE member_id = members.id)
       OR (password_set_at IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM sign_in_rules WHERE organisation_id = :organisationId AND password_allowed = 0))
     THEN 1 ELSE 0 END AS can_sign_in
   FROM members WHERE organisation_id = :organisationId AND role = 'admin'`,
)
const invited = statement(
  `SELECT ${memberColumns} FROM members WHERE invitation_hash = :tokenHash AND invitation_expires_at > :now`,
)
const insert = statement(
  `INSERT INTO members (id, organisation_id, email, role, created_at, invitation_hash, invitation_expires_at)
   VALUES (:id, :organisationId, :email, :role, :createdAt, :tokenHash, :expiresAt) ON CONFLICT (email, organisation_id) DO NOTHING`,
)
const invite = statement(
  'UPDATE members SET invitation_hash = :tokenHash, invitation_expires_at = :expiresAt WHERE id = :id',
)
const setPassword = statement(
  `UPDATE members SET password_hash = :passwordHash, password_set_at = :now, invitation_hash = NULL,
     invitation_expires_at = NULL
   WHERE invitation_hash = :tokenHash AND invitation_expires_at > :now RETURNING id`,
)
// Waits for a sign-in that is being created, so that it is deleted too.
const lock = statement(
  `SELECT 1 FROM members WHERE id = :id AND (:organisationId::text IS NULL OR organisation_id = :organisationId)
   FOR UPDATE`,
)
const changePassword = statement(
  `UPDATE members SET password_hash = :passwordHash, password_set_at = :now, invitation_hash = NULL,
     invitation_expires_at = NULL
   WHERE id = :memberId AND password_set_at IS NOT DISTINCT FROM :passwordSetAt`,
)
const endOtherSignIns = statement('DELETE FROM sign_ins WHERE member_id = :memberId AND token_hash <> :from')
const renewSignIn = statement(
  'UPDATE sign_ins SET token_hash = :to, verified_at = :now, last_seen_at = :now WHERE token_hash = :from',
)
const endSignIns = statement('DELETE FROM sign_ins WHERE member_id = :id')
const factors = ['passkeys', 'recovery_codes', 'sign_in_challenges'].map((table) =>
  statement(`DELETE FROM ${table} WHERE member_id = :id`),
)
const remove = statement('DELETE FROM members WHERE id = :id')
const setRole = statement('UPDATE members SET role = :to WHERE id = :id AND role = :from')
const setLanguage = statement(
  'UPDATE members SET language = :language WHERE id = :id AND organisation_id = :organisationId',
)
const forgetProofs = statement('UPDATE sign_ins SET verified_at = 0 WHERE member_id = :id')

/** Keeps a member unchanged until the transaction ends. `false` if there is no such member. */
export async function lockMember(
  run: Run,
  id: string,
  organisationId: string | null = null,
): Promise<boolean> {
  return (await run(lock, { id, organisationId })).count === 1
}

export const memberTransactions = {
  async createMember(run: Run, member: Member, invitation: Invitation, note: ActivityNote): Promise<boolean> {
    if (!(await lockOrganisation(run, member.organisationId))) return false
    if ((await run(insert, { ...member, ...invitation })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async inviteMember(run: Run, id: string, invitation: Invitation, note: ActivityNote): Promise<boolean> {
    if ((await run(invite, { ...invitation, id })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async setPassword(
    run: Run,
    tokenHash: string,
    passwordHash: string,
    now: Instant,
    note: ActivityNote,
  ): Promise<boolean> {
    const [row] = (await run(setPassword, { tokenHash, passwordHash, now })).rows
    if (!row) return false
    await run(endSignIns, { id: text(row, 'id') })
    insertActivity(run, note)
    return true
  },
  async setMemberRole(
    run: Run,
    { organisationId, id }: { organisationId: string; id: string },
    { from, to }: { from: Role; to: Role },
    note: ActivityNote,
  ): Promise<'changed' | 'absent' | 'last'> {
    // Serialises members who demote or remove each other concurrently, so that an admin remains.
    await lockOrganisationRow(run, organisationId)
    if (!(await lockMember(run, id, organisationId))) return 'absent'
    if (to !== 'admin' && isLastAdmin(id, await adminsOf(run, organisationId))) return 'last'
    if ((await run(setRole, { id, from, to })).count === 0) return 'absent'
    if (!allows(from, to)) await run(forgetProofs, { id })
    insertActivity(run, note)
    return 'changed'
  },
  async setMemberLanguage(
    run: Run,
    ref: { organisationId: string; id: string },
    language: Language | null,
    note: ActivityNote,
  ): Promise<void> {
    if ((await run(setLanguage, { ...ref, language })).count > 0) insertActivity(run, note)
  },
  async changePassword(run: Run, change: PasswordChange, note: ActivityNote): Promise<boolean> {
    const values = { ...change, now: note.at }
    if ((await run(changePassword, values)).count === 0) return false
    await run(endOtherSignIns, values)
    await run(renewSignIn, values)
    insertActivity(run, note)
    return true
  },
  async removeMember(
    run: Run,
    organisationId: string,
    id: string,
    note: ActivityNote,
  ): Promise<'removed' | 'absent' | 'last'> {
    await lockOrganisationRow(run, organisationId)
    if (!(await lockMember(run, id, organisationId))) return 'absent'
    if (isLastAdmin(id, await adminsOf(run, organisationId))) return 'last'
    await run(endSignIns, { id })
    for (const each of factors) await run(each, { id })
    await run(unassign, { id, organisationId })
    await run(remove, { id })
    noteDeletion(run)
    insertActivity(run, note)
    return 'removed'
  },
}

export function memberStore(engine: Engine<typeof memberTransactions>): MemberStore {
  return {
    create: (member, invitation, note) => engine.transact('createMember', member, invitation, note),
    async find(organisationId, id) {
      const [row] = await engine.read(find, { id, organisationId })
      return row ? toMember(row) : null
    },
    async findByEmail(email, organisationId) {
      const [row, second] = await engine.read(byEmail, { email, organisationId })
      if (!row || second) return null
      return { member: toMember(row), passwordHash: textOrNull(row, 'password_hash') }
    },
    list: async (organisationId) => (await engine.read(list, { organisationId })).map(toMember),
    invite: (id, invitation, note) => engine.transact('inviteMember', id, invitation, note),
    async findInvited(tokenHash, now) {
      const [row] = await engine.read(invited, { tokenHash, now })
      return row ? toMember(row) : null
    },
    setPassword: (tokenHash, passwordHash, now, note) =>
      engine.revoke('setPassword', tokenHash, passwordHash, now, note),
    setRole: (ref, change, note) => engine.revoke('setMemberRole', ref, change, note),
    setLanguage: (ref, language, note) => engine.transact('setMemberLanguage', ref, language, note),
    changePassword: (change, note) => engine.revoke('changePassword', change, note),
    remove: (organisationId, id, note) => engine.revoke('removeMember', organisationId, id, note),
  }
}

async function adminsOf(run: Run, organisationId: string): Promise<AdminAccess[]> {
  const { rows } = await run(listAdmins, { organisationId })
  return rows.map((row) => ({ id: text(row, 'id'), canSignIn: integer(row, 'can_sign_in') === 1 }))
}

export function toMember(row: Row): Member {
  return {
    id: text(row, 'id'),
    organisationId: text(row, 'organisation_id'),
    email: text(row, 'email'),
    role: known(roles, row.role, 'a role'),
    createdAt: integer(row, 'created_at'),
    passwordSetAt: integerOrNull(row, 'password_set_at'),
    isConnected: textOrNull(row, 'oidc_subject') !== null,
    language: toLanguage(row),
  }
}

function toLanguage(row: Row): Language | null {
  const language = textOrNull(row, 'language')
  return languages.find((each) => each === language) ?? null
}
