import { dayOf, formatDay } from '../../domain/daily-total.ts'
import { notFound } from '../../domain/errors.ts'
import { formatInstant } from '../../domain/instant.ts'
import { sumTotals } from '../../operations/daily-total.ts'
import {
  countedSubjects,
  createTracker,
  deleteTracker,
  listTrackers,
  renameTracker,
  requireTracker,
} from '../../operations/tracker.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute, trackerView } from '../route.ts'
import { boolean, integer, list, object, optional, text } from '../schema.ts'
import { instant, typed } from './fields.ts'

const Tracker = object(
  { id: text(), name: text(), createdAt: instant, subjects: integer(), hasMoreSubjects: boolean() },
  { title: 'Tracker' },
)

export const Day = object({ day: text(), sessions: integer(), events: integer() }, { title: 'Day' })

const TrackerList = object({ trackers: list(Tracker) }, { title: 'TrackerList' })

const TrackerName = object({ id: text(), name: text() }, { title: 'TrackerName' })

const EventNames = object(
  { names: list(object({ name: text(), count: integer() })), isComplete: boolean() },
  { title: 'EventNames' },
)

const Totals = object({ today: text(), days: list(Day) }, { title: 'Totals' })

const days = optional(integer({ minimum: 1, maximum: 40_000, 'x-rule': 'a whole number from 1 to 40000' }))

/** How many event names are shown. */
const maxShownNames = 10

export const trackerRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/trackers',
    access: 'viewer',
    response: TrackerList,
    async handle(call) {
      const { organisationId, since } = trackerView(call, '')
      const trackers = await listTrackers(call.services, organisationId, since)
      return {
        trackers: trackers.map(({ id, name, createdAt, subjects }) => ({
          ...{ id, name, createdAt: formatInstant(createdAt), subjects },
          hasMoreSubjects: subjects >= countedSubjects,
        })),
      }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/trackers',
    access: 'admin',
    body: { name: typed },
    bodyNamesNobody: true,
    response: TrackerName,
    async handle({ services, context, body }) {
      const { organisationId } = identityOf(context)
      // The ID is random: choosing one would reveal the IDs of other organisations.
      const wanted = { organisationId, name: body.name }
      const { id, name } = await createTracker(services, wanted, originOf(context))
      return { id, name }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/trackers/{trackerId}/rename',
    access: 'admin',
    body: { name: typed },
    bodyNamesNobody: true,
    response: TrackerName,
    async handle(call) {
      const { services, context, path, body } = call
      const { id, name } = await renameTracker(services, path.trackerId, body.name, originOf(context))
      return { id, name }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/trackers/{trackerId}/totals',
    access: 'viewer',
    query: { days },
    response: Totals,
    async handle(call) {
      const { services, path, query } = call
      const today = dayOf(services.clock())
      const view = trackerView(call, path.trackerId)
      const totals = await sumTotals(services, view, today - (query.days ?? 30) + 1, today)
      return {
        today: formatDay(today),
        days: totals.map((total) => ({ ...total, day: formatDay(total.day) })),
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/trackers/{trackerId}/event-names',
    access: 'viewer',
    query: { days },
    response: EventNames,
    async handle(call) {
      const { services, path, query } = call
      const today = dayOf(services.clock())
      const view = trackerView(call, path.trackerId)
      const from = today - (query.days ?? 30) + 1
      const found = await services.dailyTotals.names(view, from, today, maxShownNames)
      if (found === null) throw notFound('This tracker')
      return found
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/trackers/{trackerId}/delete',
    access: 'admin',
    recentSignIn: true,
    body: { name: typed },
    bodyNamesNobody: true,
    response: TrackerName,
    async handle({ services, context, path, body }) {
      const origin = originOf(context)
      await requireTracker(services, path.trackerId, origin)
      const { id, name } = await deleteTracker(services, path.trackerId, body.name, origin)
      return { id, name }
    },
  }),
]
