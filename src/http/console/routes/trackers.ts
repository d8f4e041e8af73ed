import { dayOf, formatDay } from '../../../domain/daily-total.ts'
import { formatInstant } from '../../../domain/instant.ts'
import { createTracker } from '../../../operations/tracker/create-tracker.ts'
import { countedSubjects, listTrackers } from '../../../operations/tracker/list-trackers.ts'
import { renameTracker } from '../../../operations/tracker/rename-tracker.ts'
import { sumTotals } from '../../../operations/tracker/sum-totals.ts'
import { identityOf, originOf } from '../../request-context.ts'
import { defineRoute, trackerView } from '../../route.ts'
import { Totals, TrackerList, TrackerName } from '../resources.ts'
import { days, typed } from '../schemas.ts'

export const trackerRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/trackers',
    access: 'member',
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
    access: 'member',
    body: { name: typed },
    response: TrackerName,
    async handle({ services, context, body }) {
      const { organisationId } = identityOf(context)
      // Its id is chance's: whoever could choose one would learn which ids other organisations have.
      const wanted = { organisationId, name: body.name }
      const { id, name } = await createTracker(services, wanted, originOf(context))
      return { id, name }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/trackers/{trackerId}/rename',
    access: 'member',
    body: { name: typed },
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
    access: 'member',
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
]
