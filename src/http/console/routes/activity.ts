import { Problems } from '../../../domain/problems.ts'
import {
  listActivity,
  planActivityList,
  readActivityFilters,
} from '../../../operations/activity/list-activity.ts'
import { identityOf } from '../../request-context.ts'
import { defineRoute } from '../../route.ts'
import { exportActivity } from '../export-activity.ts'
import { presentActivity } from '../present.ts'
import { ActivityList } from '../resources.ts'
import { activityFilterParameters, activityFormat, activityListParameters } from '../schemas.ts'

export const activityRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/activity',
    access: 'member',
    query: activityListParameters,
    response: ActivityList,
    async handle({ services, context, query }) {
      const { organisationId } = identityOf(context)
      const problems = new Problems()
      const plan = planActivityList(organisationId, query, problems)
      problems.throwIfAny()
      const { entries, nextCursor } = await listActivity(services, organisationId, plan)
      return { entries: entries.map(presentActivity), nextCursor }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/activity/export',
    access: 'member',
    query: { ...activityFilterParameters, format: activityFormat },
    response: null,
    plan: ({ query }, problems) => readActivityFilters(query, problems),
    handle: ({ services, context, http, query, plan }) =>
      exportActivity(services, http, context, plan, query.format),
  }),
]
