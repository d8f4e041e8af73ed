import { dayOf, formatDay } from '../../domain/daily-total.ts'
import { formatInstant } from '../../domain/instant.ts'
import { createTracker } from '../../operations/create-tracker.ts'
import { countedSubjects, listTrackers } from '../../operations/list-trackers.ts'
import { renameTracker } from '../../operations/rename-tracker.ts'
import { sumTotals } from '../../operations/sum-totals.ts'
import { memberRoute } from '../console-route.ts'
import { days, typed } from '../schemas.ts'

export const trackerRoutes = [
  memberRoute({
    method: 'GET',
    path: '/console/api/trackers',
    async run({ services, organisationId, tracker }) {
      const trackers = await listTrackers(services, organisationId, tracker.since)
      return {
        trackers: trackers.map(({ id, name, createdAt, subjects }) => ({
          ...{ id, name, createdAt: formatInstant(createdAt), subjects },
          hasMoreSubjects: subjects >= countedSubjects,
        })),
      }
    },
  }),
  memberRoute({
    method: 'POST',
    path: '/console/api/trackers',
    body: { name: typed },
    async run({ services, organisationId, body, origin }) {
      // Its id is chance's: whoever could choose one would learn which ids other organisations have.
      const { id, name } = await createTracker(services, { organisationId, name: body.name }, origin)
      return { id, name }
    },
  }),
  memberRoute({
    method: 'POST',
    path: '/console/api/trackers/{trackerId}/rename',
    body: { name: typed },
    async run({ services, tracker, body, origin }) {
      const { id, name } = await renameTracker(services, tracker.trackerId, body.name, origin)
      return { id, name }
    },
  }),
  memberRoute({
    method: 'GET',
    path: '/console/api/trackers/{trackerId}/totals',
    query: { days },
    async run({ services, tracker, query }) {
      const today = dayOf(services.clock())
      const totals = await sumTotals(services, tracker, today - (query.days ?? 30) + 1, today)
      return {
        today: formatDay(today),
        days: totals.map((total) => ({ ...total, day: formatDay(total.day) })),
      }
    },
  }),
]
