import { listActivity, planActivityList } from '../../operations/list-activity.ts'
import { memberRoute } from '../console-route.ts'
import { presentActivity } from '../present.ts'
import { activityListParameters } from '../schemas.ts'

export const activityRoutes = [
  memberRoute({
    method: 'GET',
    path: '/console/api/activity',
    query: activityListParameters,
    async run({ services, organisationId, query, problems }) {
      const plan = planActivityList(organisationId, query, problems)
      problems.throwIfAny()
      const { entries, nextCursor } = await listActivity(services, organisationId, plan)
      return { entries: entries.map(presentActivity), nextCursor }
    },
  }),
]
