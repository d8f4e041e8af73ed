import { idleMs, type SignInStore } from '../../domain/sign-in.ts'
import { toSignedIn } from '../rows/sign-in.ts'
import { leaveNote } from './activity.ts'
import type { Connections } from './connections.ts'
import { takeTurn } from './hold-owner.ts'
import { statement } from './statement.ts'

const find = statement(
  `SELECT token_hash, started_at, last_seen_at, members.id, organisation_id, email, members.created_at, password_set_at,
     organisations.name AS organisation_name, plan, organisations.created_at AS organisation_created_at
   FROM sign_ins JOIN members ON members.id = member_id JOIN organisations ON organisations.id = organisation_id
   WHERE token_hash = $1`,
)
// Locks the member, so that a password that is set at the same time ends this sign-in or keeps it from beginning.
const lockMember = statement('SELECT 1 FROM members WHERE id = $1 AND password_set_at = $2 FOR UPDATE')
const insert = statement(
  'INSERT INTO sign_ins (token_hash, member_id, started_at, last_seen_at) VALUES ($1, $2, $3, $4)',
)
const deleteIdle = statement('DELETE FROM sign_ins WHERE last_seen_at <= $1')
const deleteAhead = statement('DELETE FROM sign_ins WHERE last_seen_at >= $1')
const touch = statement('UPDATE sign_ins SET last_seen_at = $1 WHERE token_hash = $2 AND last_seen_at < $1')
const end = statement('DELETE FROM sign_ins WHERE token_hash = $1')
const endAll = statement('DELETE FROM sign_ins WHERE member_id = $1')

export function signInStore(connections: Connections): SignInStore {
  return {
    begin: ({ tokenHash, memberId, startedAt, lastSeenAt }, passwordSetAt, note) =>
      connections.transaction(async (run) => {
        takeTurn(run)
        if ((await run(lockMember, [memberId, passwordSetAt])).rowCount === 0) return false
        await run(insert, [tokenHash, memberId, startedAt, lastSeenAt])
        await run(deleteIdle, [startedAt - idleMs])
        await run(deleteAhead, [startedAt + idleMs])
        leaveNote(run, note)
        return true
      }),
    async find(tokenHash) {
      const [row] = await connections.readCredential(find, [tokenHash])
      return row ? toSignedIn(row) : null
    },
    touch: (tokenHash, now) =>
      connections.transaction(async (run) => {
        takeTurn(run)
        await run(touch, [now, tokenHash])
      }),
    end: (tokenHash, note) =>
      connections.revocation(async (run) => {
        takeTurn(run)
        if ((await run(end, [tokenHash])).rowCount === 0) return false
        leaveNote(run, note)
        return true
      }),
    endAll: (memberId, note) =>
      connections.revocation(async (run) => {
        takeTurn(run)
        await run(endAll, [memberId])
        leaveNote(run, note)
      }),
  }
}
