import type { ActivityNote } from '../../domain/activity.ts'
import { deviceTypes, type Passkey, type PasskeyStore } from '../../domain/passkey.ts'
import { outdatesSignIns } from '../../domain/second-factor.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockMember, memberColumns, toMember } from './member.ts'
import { dropRecoveryCodes, ensureRecoveryCodes } from './recovery-code.ts'
import { asJson, integer, integerOrNull, known, type Row, text, textOrNull } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { endOtherSignIns, secondFactorsOf } from './sign-in.ts'
import { statement } from './statement.ts'

const columns = `passkeys.id AS passkey_id, member_id, name, public_key, sign_count, transports, device_type, backed_up,
  passkeys.created_at AS added_at, last_used_at`
const list = statement(
  `SELECT ${columns} FROM passkeys WHERE member_id = :memberId ORDER BY passkeys.created_at, passkeys.id`,
)
const find = statement(
  `SELECT ${columns}, ${memberColumns} FROM passkeys JOIN members ON members.id = member_id
   WHERE passkeys.id = :id`,
)
const insert = statement(
  `INSERT INTO passkeys (id, member_id, name, public_key, sign_count, transports, device_type, backed_up, created_at)
   VALUES (:id, :memberId, :name, :publicKey, :signCount, :transports, :deviceType, :backedUp, :createdAt)
   ON CONFLICT (id) DO NOTHING`,
)
const rename = statement('UPDATE passkeys SET name = :name WHERE id = :id AND member_id = :memberId')
const remove = statement('DELETE FROM passkeys WHERE id = :id AND member_id = :memberId')

export const passkeyTransactions = {
  async addPasskey(
    run: Run,
    passkey: Passkey,
    { tokenHash, recoveryHashes }: Parameters<PasskeyStore['add']>[1],
    note: ActivityNote,
  ): Promise<{ codesAdded: boolean } | null> {
    const { memberId, transports, isBackedUp } = passkey
    if (!(await lockMember(run, memberId))) return null
    const row = { ...passkey, transports: JSON.stringify(transports), backedUp: isBackedUp ? 1 : 0 }
    const before = await secondFactorsOf(run, memberId)
    if ((await run(insert, row)).count === 0) return null
    if (outdatesSignIns(before, 'passkey')) await run(endOtherSignIns, { memberId, tokenHash })
    const codesAdded = await ensureRecoveryCodes(run, memberId, recoveryHashes)
    insertActivity(run, note)
    return { codesAdded }
  },
  async renamePasskey(
    run: Run,
    memberId: string,
    id: string,
    name: string,
    note: ActivityNote,
  ): Promise<boolean> {
    if ((await run(rename, { memberId, id, name })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async removePasskey(run: Run, memberId: string, id: string, note: ActivityNote): Promise<boolean> {
    if (!(await lockMember(run, memberId))) return false
    if ((await run(remove, { memberId, id })).count === 0) return false
    await dropRecoveryCodes(run, memberId)
    noteDeletion(run)
    insertActivity(run, note)
    return true
  },
}

export function passkeyStore(engine: Engine<typeof passkeyTransactions>): PasskeyStore {
  return {
    list: async (memberId) => (await engine.read(list, { memberId })).map(toPasskey),
    async find(id) {
      const [row] = await engine.readCredential(find, { id })
      if (!row) return null
      return {
        passkey: toPasskey(row),
        member: toMember(row),
        passwordHash: textOrNull(row, 'password_hash'),
      }
    },
    add: (passkey, by, note) => engine.revoke('addPasskey', passkey, by, note),
    rename: (memberId, id, name, note) => engine.transact('renamePasskey', memberId, id, name, note),
    remove: (memberId, id, note) => engine.revoke('removePasskey', memberId, id, note),
  }
}

function toPasskey(row: Row): Passkey {
  return {
    id: text(row, 'passkey_id'),
    memberId: text(row, 'member_id'),
    name: text(row, 'name'),
    publicKey: text(row, 'public_key'),
    signCount: integer(row, 'sign_count'),
    transports: asJson<string[]>(row.transports, 'transports'),
    deviceType: known(deviceTypes, row.device_type, 'a passkey of a type'),
    isBackedUp: integer(row, 'backed_up') === 1,
    createdAt: integer(row, 'added_at'),
    lastUsedAt: integerOrNull(row, 'last_used_at'),
  }
}
