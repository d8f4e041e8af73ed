import { type ActivityEntry, activityKinds } from '../../domain/activity.ts'
import { Problems } from '../../domain/errors.ts'
import { formatInstant, instantRule } from '../../domain/instant.ts'
import type { NamedRequest } from '../../domain/privacy-request.ts'
import type { GiveWay } from '../../domain/semaphore.ts'
import type { Services } from '../../domain/services.ts'
import {
  type ActivityFilters,
  csvHeader,
  listActivity,
  noteExport,
  pagesOfActivity,
  planActivityList,
  readActivityFilters,
  requestsOfActivity,
  toCsvLine,
} from '../../operations/activity.ts'
import { type ActivityGroup as Group, listActivityGroups } from '../../operations/group-activity.ts'
import { Counts } from '../api/fields.ts'
import { sessionListParameters } from '../api/sessions.ts'
import { type HttpTools, identityOf, originOf, type RequestContext } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { integer, list, object, oneOf, optional, orNull, text } from '../schema.ts'
import { AboutRequest, Actor, instant, noControlCharacters } from './fields.ts'

const Activity = object(
  {
    id: text(),
    at: instant,
    actor: Actor,
    kind: oneOf(activityKinds),
    target: orNull(text()),
    requestId: orNull(text()),
    counts: orNull(Counts),
    ledgerIndex: orNull(integer()),
    request: AboutRequest,
  },
  { title: 'Activity' },
)

const ActivityList = object(
  { entries: list(Activity), nextCursor: orNull(text()) },
  { title: 'ActivityList' },
)

const ActivityGroup = object(
  {
    newest: Activity,
    oldestAt: instant,
    count: integer(),
    kinds: list(object({ kind: oneOf(activityKinds), count: integer() })),
    counts: orNull(Counts),
    ledgerIndex: orNull(integer()),
  },
  { title: 'ActivityGroup' },
)

const ActivityGroupList = object(
  { groups: list(ActivityGroup), nextCursor: orNull(text()) },
  { title: 'ActivityGroupList' },
)

const shortText = {
  minLength: 1,
  maxLength: 200,
  pattern: noControlCharacters,
  'x-rule': '1 to 200 characters, no control characters',
}

const activityFilterParameters = {
  requestId: optional(text(shortText)),
  kind: optional(text({ ...shortText, 'x-rule': 'a kind of activity' })),
  actor: optional(text({ ...shortText, 'x-rule': 'the id of a member or a key, or command-line' })),
  since: optional(text({ maxLength: 100, 'x-rule': instantRule })),
  until: optional(text({ maxLength: 100, 'x-rule': instantRule })),
}

const activityFormat = oneOf(['csv', 'json'], { 'x-rule': 'csv or json' })

const activityListParameters = { ...sessionListParameters, ...activityFilterParameters }

export const activityRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/activity',
    access: 'viewer',
    query: activityListParameters,
    response: ActivityList,
    async handle({ services, context, query }) {
      const { organisationId } = identityOf(context)
      const problems = new Problems()
      const plan = planActivityList(organisationId, query, problems)
      problems.throwIfAny()
      const { entries, nextCursor } = await listActivity(services, organisationId, plan)
      const requests = await requestsOfActivity(services, organisationId, entries)
      return { entries: entries.map((entry) => presentListed(entry, requests)), nextCursor }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/activity/groups',
    access: 'viewer',
    query: activityListParameters,
    response: ActivityGroupList,
    async handle({ services, context, query }) {
      const { organisationId } = identityOf(context)
      const problems = new Problems()
      const plan = planActivityList(organisationId, query, problems)
      problems.throwIfAny()
      const { groups, nextCursor } = await listActivityGroups(services, organisationId, plan)
      const newest = groups.map((group) => group.newest)
      const requests = await requestsOfActivity(services, organisationId, newest)
      return { groups: groups.map((group) => presentGroup(group, requests)), nextCursor }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/activity/export',
    access: 'desk',
    query: { ...activityFilterParameters, format: activityFormat },
    response: null,
    plan: ({ query }, problems) => readActivityFilters(query, problems),
    handle: ({ services, context, http, query, plan }) =>
      exportActivity(services, http, context, plan, query.format),
  }),
]

/** Streams the filtered activity as a file. */
async function exportActivity(
  services: Services,
  { respond }: HttpTools,
  context: RequestContext,
  filters: ActivityFilters,
  format: 'csv' | 'json',
): Promise<undefined> {
  const { organisationId } = identityOf(context)
  const pages = pagesOfActivity(services, organisationId, filters)
  const headers = [
    ...['Content-Disposition', `attachment; filename="lethe-activity.${format}"`],
    ...(format === 'csv' ? ['Content-Type', 'text/csv; charset=utf-8'] : []),
  ]
  const writeAll = async (add: Add, giveWay: GiveWay) => {
    const what = { kind: 'activity.exported', target: format.toUpperCase() } as const
    await noteExport(services, organisationId, what, originOf(context))
    await (format === 'csv' ? writeCsv : writeJson)(pages, add, giveWay)
  }
  await respond.stream(
    context,
    ({ add, signal }) => services.jobs.run(organisationId, (giveWay) => writeAll(add, giveWay), signal),
    headers,
  )
}

type Pages = AsyncIterable<ActivityEntry[]>
type Add = (text: string) => Promise<void>

async function writeCsv(pages: Pages, add: Add, giveWay: GiveWay): Promise<void> {
  await add(csvHeader)
  for await (const entries of pages) {
    await add(entries.map(toCsvLine).join(''))
    await giveWay()
  }
}

async function writeJson(pages: Pages, add: Add, giveWay: GiveWay): Promise<void> {
  await add('{"entries":[')
  let separator = '\n'
  for await (const entries of pages) {
    await add(separator + entries.map((entry) => JSON.stringify(presentActivity(entry))).join(',\n'))
    separator = ',\n'
    await giveWay()
  }
  await add('\n]}\n')
}

function presentGroup(
  { newest, oldestAt, kinds, ...group }: Group,
  requests: ReadonlyMap<string, NamedRequest | null>,
) {
  return {
    ...{ ...group, newest: presentListed(newest, requests), oldestAt: formatInstant(oldestAt) },
    kinds: Array.from(kinds, ([kind, count]) => ({ kind, count })),
  }
}

function presentListed(entry: ActivityEntry, requests: ReadonlyMap<string, NamedRequest | null>) {
  return { ...presentActivity(entry), request: requests.get(entry.id) ?? null }
}

function presentActivity(entry: ActivityEntry) {
  const { id, at, actor, kind, target, requestId, counts, ledgerIndex } = entry
  return { id, at: formatInstant(at), actor, kind, target, requestId, counts, ledgerIndex }
}
