import type { MemberStore } from '../../domain/member.ts'
import { toMember } from '../rows/member.ts'
import { text, textOrNull } from '../rows/row.ts'
import { leaveNote } from './activity.ts'
import type { Connections } from './connections.ts'
import { holdOrganisation, takeTurn } from './hold-owner.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

const columns = 'id, organisation_id, email, created_at, password_hash, password_set_at'
const find = statement(`SELECT ${columns} FROM members WHERE id = $1 AND organisation_id = $2`)
const byEmail = statement(
  `SELECT ${columns} FROM members WHERE email = $1 AND ($2::text IS NULL OR organisation_id = $2) LIMIT 2`,
)
const list = statement(`SELECT ${columns} FROM members WHERE organisation_id = $1 ORDER BY created_at, id`)
const invited = statement(
  `SELECT ${columns} FROM members WHERE invitation_hash = $1 AND invitation_expires_at > $2`,
)
const insert = statement(
  `INSERT INTO members (id, organisation_id, email, created_at, invitation_hash, invitation_expires_at)
   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (email, organisation_id) DO NOTHING`,
)
const invite = statement('UPDATE members SET invitation_hash = $1, invitation_expires_at = $2 WHERE id = $3')
const setPassword = statement(
  `UPDATE members SET password_hash = $1, password_set_at = $2, invitation_hash = NULL, invitation_expires_at = NULL
   WHERE invitation_hash = $3 AND invitation_expires_at > $2 RETURNING id`,
)
// Two members that remove each other concurrently wait here, so that one is left. Notes of others, which refer to the row, need not wait.
const lockOwner = statement('SELECT 1 FROM organisations WHERE id = $1 FOR NO KEY UPDATE')
// A sign-in that is beginning goes first, so that it is seen and ended.
const lockMember = statement('SELECT 1 FROM members WHERE id = $1 AND organisation_id = $2 FOR UPDATE')
const endSignIns = statement('DELETE FROM sign_ins WHERE member_id = $1')
const remove = statement('DELETE FROM members WHERE id = $1')

export function memberStore(connections: Connections): MemberStore {
  return {
    create: ({ id, organisationId, email, createdAt }, { tokenHash, expiresAt }, note) =>
      connections.transaction(async (run) => {
        if (!(await holdOrganisation(run, organisationId))) return false
        const values = [id, organisationId, email, createdAt, tokenHash, expiresAt]
        if ((await run(insert, values)).rowCount === 0) return false
        leaveNote(run, note)
        return true
      }),
    async find(organisationId, id) {
      const [row] = await connections.read(find, [id, organisationId])
      return row ? toMember(row) : null
    },
    async findByEmail(email, organisationId) {
      const [row, second] = await connections.read(byEmail, [email, organisationId])
      if (!row || second) return null
      return { member: toMember(row), passwordHash: textOrNull(row, 'password_hash') }
    },
    list: async (organisationId) => (await connections.read(list, [organisationId])).map(toMember),
    invite: (id, { tokenHash, expiresAt }, note) =>
      connections.transaction(async (run) => {
        takeTurn(run)
        if ((await run(invite, [tokenHash, expiresAt, id])).rowCount === 0) return false
        leaveNote(run, note)
        return true
      }),
    async findInvited(tokenHash, now) {
      const [row] = await connections.read(invited, [tokenHash, now])
      return row ? toMember(row) : null
    },
    setPassword: (tokenHash, passwordHash, now, note) =>
      connections.revocation(async (run) => {
        takeTurn(run)
        const [row] = (await run(setPassword, [passwordHash, now, tokenHash])).rows
        if (!row) return false
        await run(endSignIns, [text(row, 'id')])
        leaveNote(run, note)
        return true
      }),
    remove: (organisationId, id, note) =>
      connections.revocation(async (run) => {
        await run(lockOwner, [organisationId])
        if ((await run(lockMember, [id, organisationId])).rowCount === 0) return 'absent'
        if ((await run(list, [organisationId])).rowCount === 1) return 'last'
        await run(endSignIns, [id])
        await run(remove, [id])
        noteDeletion(run)
        leaveNote(run, note)
        return 'removed'
      }),
  }
}
