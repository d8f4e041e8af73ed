import type { ActivityStore } from '../domain/activity.ts'
import { LetheError, Problems } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import { checkEmail, hasJoined, type Member, type MemberStore, type Role } from '../domain/member.ts'
import type { OrganisationStore } from '../domain/organisation.ts'
import type { Randomness } from '../domain/randomness.ts'
import { mappedRole, type RoleMapping } from '../domain/role-mapping.ts'
import type { ConnectedMember, ProviderIdentity, SingleSignOnStore } from '../domain/single-sign-on.ts'
import { activityNote } from './activity.ts'
import { requireOrganisation } from './organisation.ts'
import { originOfMember } from './sign-in.ts'

export interface AdmissionDeps {
  singleSignOn: SingleSignOnStore
  members: MemberStore
  organisations: OrganisationStore
  activity: ActivityStore
  clock: Clock
  randomness: Randomness
  /** `null` if the provider does not determine roles. */
  roleMapping: RoleMapping | null
}

/** The member, or the organisations among which the person has to choose. */
type Admission = ConnectedMember | { organisations: { id: string; name: string }[] }

/**
 * Finds the member that an identity belongs to: one who is connected with the account, who was invited with
 * the address, or who may join because of its domain. Throws `forbidden` for anybody else.
 */
export async function admitByProvider(
  deps: AdmissionDeps,
  identity: ProviderIdentity,
  organisationId: string | null,
  requestId: string,
): Promise<Admission> {
  const email = verifiedEmail(identity)
  const found = await deps.singleSignOn.find(identity, email, organisationId)
  if (email === null) {
    noteRefusals(deps, found, 'address not verified', requestId)
    throw refused('The identity provider does not confirm that your e-mail address belongs to you.')
  }
  const role = deps.roleMapping && mappedRole(deps.roleMapping, identity.roleValues)
  if (deps.roleMapping && role === null) {
    noteRefusals(deps, found, 'no role', requestId)
    throw refused('The identity provider gives you no role here. Ask an administrator of the provider.')
  }
  const candidates = candidatesIn(found, identity)
  const [candidate] = candidates
  if (candidates.length > 1) {
    return chooseAmong(
      deps,
      candidates.map(({ member }) => member.organisationId),
    )
  }
  if (candidate) return connect(deps, candidate, identity, role, requestId)
  if (found.length > 0) {
    noteRefusals(deps, found, 'another account', requestId)
    throw refused(
      `${email} is connected with another account of the identity provider. An admin can remove this member and invite them again.`,
    )
  }
  return join(deps, identity, { email, organisationId, role }, requestId)
}

function verifiedEmail({ email, isVerified }: ProviderIdentity): string | null {
  if (email === null || !isVerified) return null
  const problems = new Problems()
  checkEmail(email, problems)
  return problems.has('email') ? null : email
}

/** At most one member of each organisation: who is connected with the account, or else not connected yet. */
function candidatesIn(found: readonly ConnectedMember[], identity: ProviderIdentity): ConnectedMember[] {
  const byOrganisation = Map.groupBy(found, ({ member }) => member.organisationId)
  return Array.from(byOrganisation.values()).flatMap(
    (members) =>
      members.find(
        ({ account }) => account?.subject === identity.subject && account.issuer === identity.issuer,
      ) ??
      members.find(({ account }) => account === null) ??
      [],
  )
}

async function chooseAmong(deps: AdmissionDeps, ids: readonly string[]): Promise<Admission> {
  const organisations = await Promise.all(ids.map((id) => requireOrganisation(deps, id)))
  return { organisations: organisations.map(({ id, name }) => ({ id, name })) }
}

async function connect(
  deps: AdmissionDeps,
  { member, passwordHash, account }: ConnectedMember,
  identity: ProviderIdentity,
  role: Role | null,
  requestId: string,
): Promise<ConnectedMember> {
  const { id, organisationId } = member
  const origin = originOfMember(member, requestId)
  if (account === null) {
    const kind = hasJoined(member) ? 'member.connected' : 'member.joined'
    const note = activityNote(deps, origin, { organisationId, kind, target: null })
    if (!(await deps.singleSignOn.connect(member, identity, note))) {
      throw refused('This member has changed at the same time. Try again.')
    }
  }
  const connected = { passwordHash, account: { issuer: identity.issuer, subject: identity.subject } }
  if (role === null || role === member.role) return { ...connected, member: { ...member, isConnected: true } }
  const target = `${member.email}: ${member.role} → ${role}`
  const note = activityNote(deps, origin, { organisationId, kind: 'member.role-changed', target })
  // The last admin stays one.
  const outcome = await deps.members.setRole({ organisationId, id }, { from: member.role, to: role }, note)
  return {
    ...connected,
    member: { ...member, isConnected: true, role: outcome === 'changed' ? role : member.role },
  }
}

async function join(
  deps: AdmissionDeps,
  identity: ProviderIdentity,
  person: { email: string; organisationId: string | null; role: Role | null },
  requestId: string,
): Promise<Admission> {
  const { email } = person
  const domain = email.slice(email.lastIndexOf('@') + 1)
  const open = await deps.singleSignOn.findOpen(domain, person.organisationId)
  const [only] = open
  if (!only) {
    throw refused(`There is no invitation for ${email}. Ask an admin of your organisation to invite you.`)
  }
  if (open.length > 1) return { organisations: open.map(({ organisation }) => organisation) }
  const organisationId = only.organisation.id
  const member: Member = {
    ...{ id: `mem_${deps.randomness.base62(16)}`, organisationId, email, role: person.role ?? only.role },
    ...{ createdAt: deps.clock(), passwordSetAt: null, isConnected: true, language: null },
  }
  const origin = originOfMember(member, requestId)
  const note = activityNote(deps, origin, { organisationId, kind: 'member.joined', target: null })
  if (await deps.singleSignOn.join(member, identity, note)) {
    return { member, passwordHash: null, account: { issuer: identity.issuer, subject: identity.subject } }
  }
  // Joined or invited at the same time.
  return admitByProvider(deps, identity, organisationId, requestId)
}

function noteRefusals(
  deps: AdmissionDeps,
  found: readonly ConnectedMember[],
  reason: string,
  requestId: string,
): void {
  for (const { member } of found) {
    const { organisationId } = member
    const target = `single sign-on: ${reason}`
    const what = { organisationId, kind: 'member.sign-in-failed', target } as const
    deps.activity.add(activityNote(deps, originOfMember(member, requestId), what)).catch(() => {})
  }
}

function refused(message: string): LetheError {
  return new LetheError('forbidden', message)
}
