import { setImmediate as nextTurn } from 'node:timers/promises'
import { formatInstant, formatInstantOrNull } from '../../domain/instant.ts'
import { maxReferenceLength } from '../../domain/privacy-request.ts'
import type { RequestGroup as Group } from '../../domain/request-group.ts'
import type { Services } from '../../domain/services.ts'
import type { SignedIn } from '../../domain/sign-in.ts'
import { noteExport } from '../../operations/activity.ts'
import { referenceRule } from '../../operations/create-privacy-request.ts'
import {
  cancelGroup,
  type ReportedRequest,
  reportGroup,
  requireGroup,
  startGroup,
} from '../../operations/request-group.ts'
import { presentEntry } from '../api/request-certificate.ts'
import { presentRequest } from '../api/requests.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { integer, object, orNull, text } from '../schema.ts'
import { instant, wholeCount } from './fields.ts'
import { DataCounts } from './request-fields.ts'

/** The requests with one reference. */
export const RequestGroup = object(
  {
    reference: text(),
    counts: object({
      ...{ open: integer(), running: integer(), done: integer(), rejected: integer(), cancelled: integer() },
    }),
    /** How many are open erasures, wait for an approval instead, or are access requests. */
    ...{ startable: integer(), waiting: integer(), access: integer() },
    /** How many of those that wait this member asked for. */
    ownWaiting: integer(),
    ...{ found: DataCounts, erased: DataCounts },
    ...{ firstReceivedAt: instant, closedAt: orNull(instant), resumesAt: orNull(instant) },
  },
  { title: 'RequestGroup' },
)

/** The operations count characters; this only limits what they have to read. */
export const reference = text({ maxLength: 2 * maxReferenceLength, 'x-rule': referenceRule })

const typedRequests = wholeCount('the number of requests to start')

const confirmedRequests = wholeCount('the number of requests with this reference')

const groupPath = '/console/api/request-groups'

export const requestGroupRoutes = [
  defineRoute({
    method: 'GET',
    path: groupPath,
    access: 'viewer',
    query: { reference },
    response: RequestGroup,
    handle: (call) => readGroup(call, call.query.reference),
  }),
  defineRoute({
    method: 'POST',
    path: `${groupPath}/start`,
    access: 'desk',
    recentSignIn: true,
    body: { reference, requests: typedRequests },
    response: RequestGroup,
    async handle(call) {
      const { organisationId } = identityOf(call.context)
      const { reference, requests } = call.body
      await startGroup(call.services, organisationId, reference, requests, originOf(call.context))
      call.http.wakeRequests()
      return readGroup(call, reference)
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${groupPath}/cancel`,
    access: 'desk',
    body: { reference, requests: confirmedRequests },
    response: RequestGroup,
    async handle(call) {
      const { organisationId } = identityOf(call.context)
      const { reference, requests } = call.body
      await cancelGroup(call.services, organisationId, reference, requests, originOf(call.context))
      return readGroup(call, reference)
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${groupPath}/report`,
    access: 'desk',
    query: { reference },
    response: null,
    async handle({ services, context, query, http }) {
      const { organisationId } = identityOf(context)
      const group = await requireGroup(services, organisationId, query.reference)
      const headers = ['Content-Disposition', 'attachment; filename="lethe-report.json"']
      await http.respond.stream(
        context,
        async ({ add, signal }) => {
          const what = { kind: 'request-group.exported', target: group.reference } as const
          await noteExport(services, organisationId, what, originOf(context))
          const { ownWaiting: _, ...shown } = presentGroup(group)
          await add(`{"group":${JSON.stringify(shown)},"requests":[`)
          let separator = '\n'
          const take = async (reported: ReportedRequest) => {
            await add(separator + JSON.stringify(presentReported(reported)))
            separator = ',\n'
            await nextTurn()
          }
          await reportGroup(services, group, organisationId, take, signal)
          // A truncated report does not parse.
          await add('\n]}\n')
        },
        headers,
      )
    },
  }),
]

/** The group as the signed-in member sees it. */
export async function readGroup(
  { services, signedIn: { organisation, member } }: { services: Services; signedIn: SignedIn },
  reference: string,
) {
  return presentGroup(await requireGroup(services, organisation.id, reference, member.id))
}

function presentGroup({ firstReceivedAt, closedAt, resumesAt, ...group }: Group) {
  return {
    ...{ ...group, firstReceivedAt: formatInstant(firstReceivedAt) },
    ...{ closedAt: formatInstantOrNull(closedAt), resumesAt: formatInstantOrNull(resumesAt) },
  }
}

/** Without the person: a report is kept longer than an open request. */
function presentReported({ request, entries }: ReportedRequest) {
  const { person: _, ...facts } = presentRequest(request)
  return { ...facts, line: request.listLine || null, entries: entries.map(presentEntry) }
}
