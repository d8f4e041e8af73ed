import type { DatabaseSync } from 'node:sqlite'
import type { ActivityNote } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Invitation, Member, MemberStore } from '../../domain/member.ts'
import { toMember } from '../rows/member.ts'
import { text, textOrNull } from '../rows/row.ts'
import { activityNotes } from './activity.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'
import { deletionNote } from './scrub.ts'

export function memberStore({ reader, writer }: Connections<ReturnType<typeof memberCommands>>): MemberStore {
  const find = reader.prepare('SELECT * FROM members WHERE id = ? AND organisation_id = ?')
  const byEmail = reader.prepare(
    'SELECT * FROM members WHERE email = ?1 AND (?2 IS NULL OR organisation_id = ?2) LIMIT 2',
  )
  const list = reader.prepare('SELECT * FROM members WHERE organisation_id = ? ORDER BY created_at, id')
  const invited = reader.prepare(
    'SELECT * FROM members WHERE invitation_hash = ? AND invitation_expires_at > ?',
  )
  return {
    create: (member, invitation, note) => writer.run('createMember', member, invitation, note),
    async find(organisationId, id) {
      const row = find.get(id, organisationId)
      return row ? toMember(row) : null
    },
    async findByEmail(email, organisationId) {
      const [row, second] = byEmail.all(email, organisationId)
      if (!row || second) return null
      return { member: toMember(row), passwordHash: textOrNull(row, 'password_hash') }
    },
    list: async (organisationId) => list.all(organisationId).map(toMember),
    invite: (id, invitation, note) => writer.run('inviteMember', id, invitation, note),
    async findInvited(tokenHash, now) {
      const row = invited.get(tokenHash, now)
      return row ? toMember(row) : null
    },
    setPassword: (tokenHash, hash, now, note) => writer.run('setPassword', tokenHash, hash, now, note),
    remove: (organisationId, id, note) => writer.run('removeMember', organisationId, id, note),
  }
}

export function memberCommands(db: DatabaseSync) {
  const leaveNote = activityNotes(db)
  const noteDeletion = deletionNote(db)
  const insert = db.prepare(
    `INSERT INTO members (id, organisation_id, email, created_at, invitation_hash, invitation_expires_at)
     SELECT ?1, id, ?3, ?4, ?5, ?6 FROM organisations WHERE id = ?2 AND deleted_at IS NULL
     ON CONFLICT (email, organisation_id) DO NOTHING`,
  )
  const invite = db.prepare('UPDATE members SET invitation_hash = ?, invitation_expires_at = ? WHERE id = ?')
  const invited = db.prepare('SELECT id FROM members WHERE invitation_hash = ? AND invitation_expires_at > ?')
  const setPassword = db.prepare(
    `UPDATE members SET password_hash = ?, password_set_at = ?, invitation_hash = NULL, invitation_expires_at = NULL
     WHERE id = ?`,
  )
  const endSignIns = db.prepare('DELETE FROM sign_ins WHERE member_id = ?')
  const ids = db.prepare('SELECT id FROM members WHERE organisation_id = ?')
  const remove = db.prepare('DELETE FROM members WHERE id = ?')
  return {
    createMember: (
      { id, organisationId, email, createdAt }: Member,
      link: Invitation,
      note: ActivityNote,
    ): boolean =>
      transaction(db, () => {
        const { changes } = insert.run(id, organisationId, email, createdAt, link.tokenHash, link.expiresAt)
        if (changes === 1) leaveNote(note)
        return changes === 1
      }),
    inviteMember: (id: string, { tokenHash, expiresAt }: Invitation, note: ActivityNote): boolean =>
      transaction(db, () => {
        const { changes } = invite.run(tokenHash, expiresAt, id)
        if (changes === 1) leaveNote(note)
        return changes === 1
      }),
    setPassword: (tokenHash: string, passwordHash: string, now: Instant, note: ActivityNote): boolean =>
      transaction(db, () => {
        const row = invited.get(tokenHash, now)
        if (!row) return false
        const id = text(row, 'id')
        setPassword.run(passwordHash, now, id)
        endSignIns.run(id)
        leaveNote(note)
        return true
      }),
    removeMember: (organisationId: string, id: string, note: ActivityNote): 'removed' | 'absent' | 'last' =>
      transaction(db, () => {
        const all = ids.all(organisationId).map((row) => text(row, 'id'))
        if (!all.includes(id)) return 'absent'
        if (all.length === 1) return 'last'
        endSignIns.run(id)
        remove.run(id)
        noteDeletion()
        leaveNote(note)
        return 'removed'
      }),
  }
}
