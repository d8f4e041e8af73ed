import { formatInstant } from '../../domain/instant.ts'
import { inviteMember } from '../../operations/invite-member.ts'
import { removeMember } from '../../operations/remove-member.ts'
import { memberRoute } from '../console-route.ts'
import { presentMember } from '../present.ts'
import { email } from '../schemas.ts'

export const memberRoutes = [
  memberRoute({
    method: 'GET',
    path: '/console/api/members',
    async run({ services, organisationId }) {
      return { members: (await services.members.list(organisationId)).map(presentMember) }
    },
  }),
  memberRoute({
    method: 'POST',
    path: '/console/api/members',
    body: { email },
    async run({ services, organisationId, body, origin }) {
      const invited = await inviteMember(services, { organisationId, email: body.email }, origin)
      const { member, token, expiresAt } = invited
      return { member: presentMember(member), token, expiresAt: formatInstant(expiresAt) }
    },
  }),
  memberRoute({
    method: 'DELETE',
    path: '/console/api/members/{memberId}',
    async run({ services, organisationId, path, origin }) {
      await removeMember(services, { organisationId, memberId: path.memberId }, origin)
      return {}
    },
  }),
]
