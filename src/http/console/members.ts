import { notFound } from '../../domain/errors.ts'
import { formatInstant, formatInstantOrNull } from '../../domain/instant.ts'
import { emailRule, maxEmailLength, roles, type Member as StoredMember } from '../../domain/member.ts'
import {
  type Invited,
  inviteMember,
  issueLink,
  removeMember,
  setMemberRole,
} from '../../operations/member.ts'
import { removeFactors } from '../../operations/second-factor.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { boolean, list, listedChoice, object, oneOf, optional, orNull, text } from '../schema.ts'
import { instant, Nothing, noControlCharacters } from './fields.ts'

export const Member = object(
  {
    id: text(),
    email: text(),
    role: oneOf(roles),
    createdAt: instant,
    joinedAt: orNull(instant),
    /** Whether the member signs in by single sign-on. */
    isConnected: boolean(),
  },
  { title: 'Member' },
)

const MemberList = object({ members: list(Member) }, { title: 'MemberList' })

const Invitation = object({ member: Member, token: text(), expiresAt: instant }, { title: 'Invitation' })

export const email = text({
  minLength: 1,
  maxLength: maxEmailLength,
  pattern: noControlCharacters,
  'x-rule': emailRule,
})

const role = listedChoice(roles)

export const memberRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/members',
    access: 'viewer',
    response: MemberList,
    async handle({ services, context }) {
      const members = await services.members.list(identityOf(context).organisationId)
      return { members: members.map(presentMember) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/members',
    access: 'admin',
    recentSignIn: true,
    body: { email, role: optional(role) },
    response: Invitation,
    async handle({ services, context, body }) {
      const { organisationId } = identityOf(context)
      return presentInvited(await inviteMember(services, { organisationId, ...body }, originOf(context)))
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/members/{memberId}/link',
    access: 'admin',
    recentSignIn: true,
    body: {},
    response: Invitation,
    async handle({ services, context, path }) {
      const member = await services.members.find(identityOf(context).organisationId, path.memberId)
      if (member === null) throw notFound('This member')
      return presentInvited(await issueLink(services, member, originOf(context)))
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/members/{memberId}/role',
    access: 'admin',
    recentSignIn: true,
    body: { role },
    bodyNamesNobody: true,
    response: Member,
    async handle({ services, context, path, body }) {
      const { organisationId } = identityOf(context)
      return presentMember(
        await setMemberRole(services, { organisationId, ...path, ...body }, originOf(context)),
      )
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/members/{memberId}/remove-factors',
    access: 'admin',
    recentSignIn: true,
    body: {},
    response: Nothing,
    async handle({ services, context, path }) {
      const { organisationId } = identityOf(context)
      await removeFactors(services, { organisationId, ...path }, originOf(context))
      return {}
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/console/api/members/{memberId}',
    access: 'admin',
    recentSignIn: true,
    body: {},
    response: Nothing,
    async handle({ services, context, path }) {
      const { organisationId } = identityOf(context)
      await removeMember(services, { organisationId, ...path }, originOf(context))
      return {}
    },
  }),
]

function presentInvited({ member, token, expiresAt }: Invited) {
  return { member: presentMember(member), token, expiresAt: formatInstant(expiresAt) }
}

export function presentMember({ id, email, role, createdAt, passwordSetAt, isConnected }: StoredMember) {
  return {
    ...{ id, email, role, createdAt: formatInstant(createdAt) },
    ...{ joinedAt: formatInstantOrNull(passwordSetAt), isConnected },
  }
}
