import type { DatabaseSync } from 'node:sqlite'
import type { ActivityNote } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import { idleMs, type SignIn, type SignInStore } from '../../domain/sign-in.ts'
import { toSignedIn } from '../rows/sign-in.ts'
import { activityNotes } from './activity.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'

export function signInStore({ reader, writer }: Connections<ReturnType<typeof signInCommands>>): SignInStore {
  const find = reader.prepare(
    `SELECT sign_ins.*, members.*, organisations.name AS organisation_name, plan,
            organisations.created_at AS organisation_created_at
     FROM sign_ins JOIN members ON members.id = member_id JOIN organisations ON organisations.id = organisation_id
     WHERE token_hash = ?`,
  )
  return {
    begin: (signIn, passwordSetAt, note) => writer.run('beginSignIn', signIn, passwordSetAt, note),
    async find(tokenHash) {
      const row = find.get(tokenHash)
      return row ? toSignedIn(row) : null
    },
    touch: (tokenHash, now) => writer.run('touchSignIn', tokenHash, now),
    end: (tokenHash, note) => writer.run('endSignIn', tokenHash, note),
    endAll: (memberId, note) => writer.run('endAllSignIns', memberId, note),
  }
}

export function signInCommands(db: DatabaseSync) {
  const leaveNote = activityNotes(db)
  const deleteIdle = db.prepare('DELETE FROM sign_ins WHERE last_seen_at <= ?')
  const deleteAhead = db.prepare('DELETE FROM sign_ins WHERE last_seen_at >= ?')
  const insert = db.prepare(
    `INSERT INTO sign_ins (token_hash, member_id, started_at, last_seen_at)
     SELECT ?, id, ?, ? FROM members WHERE id = ? AND password_set_at = ?`,
  )
  const touch = db.prepare(
    'UPDATE sign_ins SET last_seen_at = ?1 WHERE token_hash = ?2 AND last_seen_at < ?1',
  )
  const end = db.prepare('DELETE FROM sign_ins WHERE token_hash = ?')
  const endAll = db.prepare('DELETE FROM sign_ins WHERE member_id = ?')
  return {
    beginSignIn: (signIn: SignIn, passwordSetAt: Instant, note: ActivityNote): boolean =>
      transaction(db, () => {
        const { tokenHash, memberId, startedAt, lastSeenAt } = signIn
        if (insert.run(tokenHash, startedAt, lastSeenAt, memberId, passwordSetAt).changes === 0) return false
        deleteIdle.run(startedAt - idleMs)
        deleteAhead.run(startedAt + idleMs)
        leaveNote(note)
        return true
      }),
    touchSignIn: (tokenHash: string, now: Instant): void =>
      transaction(db, () => {
        touch.run(now, tokenHash)
      }),
    endSignIn: (tokenHash: string, note: ActivityNote): boolean =>
      transaction(db, () => {
        const hasEnded = end.run(tokenHash).changes === 1
        if (hasEnded) leaveNote(note)
        return hasEnded
      }),
    endAllSignIns: (memberId: string, note: ActivityNote): void =>
      transaction(db, () => {
        endAll.run(memberId)
        leaveNote(note)
      }),
  }
}
