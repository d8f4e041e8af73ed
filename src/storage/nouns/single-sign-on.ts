import type { ActivityNote } from '../../domain/activity.ts'
import { type Member, roles } from '../../domain/member.ts'
import type {
  ConnectedMember,
  OpenOrganisation,
  ProviderAccount,
  SingleSignOnStore,
} from '../../domain/single-sign-on.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { memberColumns, toMember } from './member.ts'
import { asJson, known, type Row, text, textOrNull } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

const find = statement(
  `SELECT ${memberColumns}, oidc_issuer FROM members
   WHERE ((oidc_subject = :subject AND oidc_issuer = :issuer) OR email = :email)
     AND (:organisationId::text IS NULL OR organisation_id = :organisationId)`,
)
/** Reads the rules of every organisation that has some: as many as have changed how their members sign in. */
export const findOpenOrganisations = statement(
  `SELECT organisations.id, name, domains, domain_role FROM sign_in_rules
   JOIN organisations ON organisations.id = organisation_id
   WHERE domains LIKE :pattern AND deleted_at IS NULL
     AND (:organisationId::text IS NULL OR organisation_id = :organisationId)
   ORDER BY organisation_id`,
)
const accountOf = statement('SELECT oidc_issuer, oidc_subject FROM members WHERE id = :memberId')
const connect = statement(
  `UPDATE members SET oidc_issuer = :issuer, oidc_subject = :subject, invitation_hash = NULL, invitation_expires_at = NULL
   WHERE id = :id AND organisation_id = :organisationId AND oidc_subject IS NULL AND NOT EXISTS (
     SELECT 1 FROM members AS others
     WHERE others.oidc_subject = :subject AND others.oidc_issuer = :issuer AND others.organisation_id = :organisationId
   )`,
)
const insert = statement(
  `INSERT INTO members (id, organisation_id, email, role, created_at, oidc_issuer, oidc_subject)
   VALUES (:id, :organisationId, :email, :role, :createdAt, :issuer, :subject) ON CONFLICT DO NOTHING`,
)
const disconnect = statement(
  `UPDATE members SET oidc_issuer = NULL, oidc_subject = NULL
   WHERE id = :memberId AND organisation_id = :organisationId AND oidc_subject IS NOT NULL`,
)
const endSignIns = statement('DELETE FROM sign_ins WHERE member_id = :memberId')

export const singleSignOnTransactions = {
  async connectMember(
    run: Run,
    member: Member,
    account: ProviderAccount,
    note: ActivityNote,
  ): Promise<boolean> {
    const { id, organisationId } = member
    if ((await run(connect, { id, organisationId, ...account })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async joinMember(run: Run, member: Member, account: ProviderAccount, note: ActivityNote): Promise<boolean> {
    if (!(await lockOrganisation(run, member.organisationId))) return false
    if ((await run(insert, { ...member, ...account })).count === 0) return false
    insertActivity(run, note)
    return true
  },
  async disconnectMember(
    run: Run,
    organisationId: string,
    memberId: string,
    note: ActivityNote,
  ): Promise<boolean> {
    if ((await run(disconnect, { organisationId, memberId })).count === 0) return false
    await run(endSignIns, { memberId })
    noteDeletion(run)
    insertActivity(run, note)
    return true
  },
}

export function singleSignOnStore(engine: Engine<typeof singleSignOnTransactions>): SingleSignOnStore {
  return {
    async find(account, email, organisationId) {
      const rows = await engine.readCredential(find, { ...account, email, organisationId })
      const found = rows.map(toConnectedMember)
      return found.toSorted((a, b) => (a.member.organisationId < b.member.organisationId ? -1 : 1))
    },
    async findOpen(domain, organisationId) {
      // A domain has no characters that mean something in a pattern or in JSON.
      const rows = await engine.readCredential(findOpenOrganisations, {
        pattern: `%"${domain}"%`,
        organisationId,
      })
      return rows.filter((row) => asJson<string[]>(row.domains, 'domains').includes(domain)).map(toOpen)
    },
    async accountOf(memberId) {
      const [row] = await engine.readCredential(accountOf, { memberId })
      return row ? toAccount(row) : null
    },
    connect: (member, account, note) => engine.transact('connectMember', member, account, note),
    join: (member, account, note) => engine.transact('joinMember', member, account, note),
    disconnect: (organisationId, memberId, note) =>
      engine.revoke('disconnectMember', organisationId, memberId, note),
  }
}

function toConnectedMember(row: Row): ConnectedMember {
  return { member: toMember(row), passwordHash: textOrNull(row, 'password_hash'), account: toAccount(row) }
}

function toAccount(row: Row): ProviderAccount | null {
  const [issuer, subject] = [textOrNull(row, 'oidc_issuer'), textOrNull(row, 'oidc_subject')]
  return issuer === null || subject === null ? null : { issuer, subject }
}

function toOpen(row: Row): OpenOrganisation {
  return {
    organisation: { id: text(row, 'id'), name: text(row, 'name') },
    role: known(roles, row.domain_role, 'a role'),
  }
}
