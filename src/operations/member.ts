import type { Origin } from '../domain/activity.ts'
import { LetheError, notFound, Problems } from '../domain/errors.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import {
  checkEmail,
  hasJoined,
  invitationMs,
  type Member,
  type MemberStore,
  normaliseEmail,
  type Role,
} from '../domain/member.ts'
import type { OrganisationStore } from '../domain/organisation.ts'
import { checkPassword, type Passwords, passwordWords } from '../domain/password.ts'
import { createToken, hashToken, type Randomness } from '../domain/randomness.ts'
import type { SignInSource, SignInStore } from '../domain/sign-in.ts'
import { activityNote } from './activity.ts'
import { requireOrganisation } from './organisation.ts'
import type { FactorDeps } from './second-factor.ts'
import { continueSignIn, type SignInOutcome } from './sign-in.ts'

interface InvitationDeps {
  organisations: OrganisationStore
  members: MemberStore
  clock: Clock
  randomness: Randomness
}

interface Invitee {
  organisationId: string
  email: string
  /** By default `admin` for the first member of an organisation, and `viewer` for others. */
  role?: Role | undefined
}

/**
 * Adds a member with a link to set a password, or replaces an unused link, whose member keeps the role.
 * Throws `validation_error` if the address is invalid or its member has a password or another role, or if the
 * organisation would have no admin, and `not_found` without the organisation.
 */
export async function inviteMember(
  deps: InvitationDeps,
  { organisationId, email: typed, role: wanted }: Invitee,
  origin: Origin,
): Promise<Invited> {
  const email = normaliseEmail(typed)
  const problems = new Problems()
  checkEmail(email, problems)
  problems.throwIfAny()
  await requireOrganisation(deps, organisationId)
  const known = await deps.members.findByEmail(email, organisationId)
  if (known && !hasJoined(known.member)) {
    const { role } = known.member
    if (wanted !== undefined && wanted !== role) {
      problems.add('role', `${email} was invited as ${role}; change the role of the member instead`)
      problems.throwIfAny()
    }
    return issueLink(deps, known.member, origin)
  }
  // Once there is an admin, there always is one.
  const isFirst = !(await deps.members.list(organisationId)).some(({ role }) => role === 'admin')
  const role = wanted ?? (isFirst ? 'admin' : 'viewer')
  if (isFirst && role !== 'admin') {
    problems.add('role', 'the first member must be an admin')
    problems.throwIfAny()
  }

  const token = createToken(deps.randomness)
  const createdAt = deps.clock()
  const member: Member = {
    id: `mem_${deps.randomness.base62(16)}`,
    organisationId,
    email,
    role,
    createdAt,
    passwordSetAt: null,
    isConnected: false,
    language: null,
  }
  const invitation = { tokenHash: hashToken(token), expiresAt: createdAt + invitationMs }
  const note = activityNote(deps, origin, { organisationId, kind: 'member.invited', target: email })
  if (known || !(await deps.members.create(member, invitation, note))) {
    // The organisation may have been deleted meanwhile.
    await requireOrganisation(deps, organisationId)
    problems.add('email', `${email} is already a member`)
    problems.throwIfAny()
  }
  return { member, token, expiresAt: invitation.expiresAt }
}

/**
 * Sets a password with a link, ends the member's other sign-ins, and signs in, if need be in two steps.
 * Throws `not_found` if the link is not valid, and `validation_error` if the password is not.
 */
export async function acceptInvitation(
  deps: FactorDeps & {
    organisations: OrganisationStore
    members: MemberStore
    signIns: SignInStore
    passwords: Passwords
  },
  { token, password }: { token: string; password: string },
  source: SignInSource,
): Promise<SignInOutcome> {
  const member = await requireInvited(deps, token)
  const problems = new Problems()
  const organisation = await requireOrganisation(deps, member.organisationId)
  checkPassword(password, passwordWords(member.email, organisation), problems)
  problems.throwIfAny()
  const hash = await deps.passwords.hash(password)
  const { id, organisationId, email } = member
  const { requestId } = source
  const origin = { actor: { kind: 'member', id, name: email }, requestId, organisationId } as const
  const note = activityNote(deps, origin, { organisationId, kind: 'member.joined', target: null })
  if (!(await deps.members.setPassword(hashToken(token), hash, note.at, note))) throw invalidLink()
  const joined = { ...member, passwordSetAt: note.at }
  const verified = { member: joined, passwordHash: hash, method: 'invitation', browserId: null } as const
  // A link replaces the password, and no other factor.
  const outcome = await continueSignIn(deps, verified, source)
  if (outcome === null) throw invalidLink()
  return outcome
}

/** A member with the token of a link, which is shown only once. */
export interface Invited {
  member: Member
  token: string
  expiresAt: Instant
}

/** Replaces a member's link to set a password. Throws `not_found` if the member does not exist. */
export async function issueLink(
  deps: { members: MemberStore; clock: Clock; randomness: Randomness },
  member: Member,
  origin: Origin,
): Promise<Invited> {
  const { organisationId, email } = member
  const token = createToken(deps.randomness)
  const invitation = { tokenHash: hashToken(token), expiresAt: deps.clock() + invitationMs }
  const kind = hasJoined(member) ? 'member.link-created' : 'member.invited'
  const note = activityNote(deps, origin, { organisationId, kind, target: email })
  if (!(await deps.members.invite(member.id, invitation, note))) throw notFound('This member')
  return { member, token, expiresAt: invitation.expiresAt }
}

/** Throws `not_found` if the link is unknown, used, replaced or expired. */
export async function requireInvited(
  { members, clock }: { members: MemberStore; clock: Clock },
  token: string,
): Promise<Member> {
  const member = await members.findInvited(hashToken(token), clock())
  if (member === null) throw invalidLink()
  return member
}

function invalidLink(): LetheError {
  return new LetheError('not_found', 'This link has expired or was already used. Ask for a new one.')
}

/** Throws `not_found` if there is no such member, and `invalid_request` for the last admin. */
export async function setMemberRole(
  deps: { members: MemberStore; clock: Clock; randomness: Randomness },
  { organisationId, memberId, role }: { organisationId: string; memberId: string; role: Role },
  origin: Origin,
): Promise<Member> {
  const member = await deps.members.find(organisationId, memberId)
  if (member === null) throw notFound('This member')
  if (member.role === role) return member
  const { id, email, role: from } = member
  const target = `${email}: ${from} → ${role}`
  const note = activityNote(deps, origin, { organisationId, kind: 'member.role-changed', target })
  const outcome = await deps.members.setRole({ organisationId, id }, { from, to: role }, note)
  if (outcome === 'last') throw lastAdmin()
  if (outcome === 'absent')
    throw new LetheError('invalid_request', 'Someone else has just changed this member. Check and try again.')
  return { ...member, role }
}

/** Throws `not_found` if there is no such member, and `invalid_request` for the last admin. */
export async function removeMember(
  deps: { members: MemberStore; clock: Clock; randomness: Randomness },
  { organisationId, memberId }: { organisationId: string; memberId: string },
  origin: Origin,
): Promise<void> {
  const member = await deps.members.find(organisationId, memberId)
  if (member === null) throw notFound('This member')
  const note = activityNote(deps, origin, { organisationId, kind: 'member.removed', target: member.email })
  const outcome = await deps.members.remove(organisationId, memberId, note)
  if (outcome === 'absent') throw notFound('This member')
  if (outcome === 'last') throw lastAdmin()
}

function lastAdmin(): LetheError {
  return new LetheError(
    'invalid_request',
    'The last admin who can sign in cannot be removed and keeps the role, because nobody else could manage the organisation.',
  )
}

/** Finds a member by ID or address. Throws `not_found` if there is none. */
export async function requireMember(
  deps: { organisations: OrganisationStore; members: MemberStore },
  organisationId: string,
  idOrEmail: string,
): Promise<Member> {
  await requireOrganisation(deps, organisationId)
  // Only an address contains an at sign.
  const member = idOrEmail.includes('@')
    ? (await deps.members.findByEmail(normaliseEmail(idOrEmail), organisationId))?.member
    : await deps.members.find(organisationId, idOrEmail)
  if (!member) throw new LetheError('not_found', `There is no member ${idOrEmail} in "${organisationId}".`)
  return member
}
