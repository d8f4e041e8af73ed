import { formatInstant } from '../../domain/instant.ts'
import { plans, windowStart } from '../../domain/retention.ts'
import { countHidden, renameOrganisation, requireOrganisation } from '../../operations/organisation.ts'
import { Counts } from '../api/fields.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute, organisationView } from '../route.ts'
import { boolean, integer, list, listedChoice, object, oneOf, orNull, text } from '../schema.ts'
import { instant, typed } from './fields.ts'

const BudgetSetting = object(
  { name: text(), limit: integer(), windowSeconds: integer() },
  { title: 'BudgetSetting' },
)

const Settings = object(
  {
    organisation: object({ id: text(), name: text(), plan: oneOf(plans), createdAt: instant }),
    windows: list(object({ plan: oneOf(plans), days: integer() })),
    activityDays: integer(),
    budgets: list(BudgetSetting),
    batchesPerMinute: integer(),
    variablesPort: orNull(integer()),
    ...{ engine: text(), version: text() },
    scrub: object({ lastAt: instant, isDue: boolean(), reachesEveryByte: boolean() }),
  },
  { title: 'Settings' },
)

const HiddenByPlan = object(
  { subjects: integer(), hasMoreSubjects: boolean(), atMost: Counts },
  { title: 'HiddenByPlan' },
)

const OrganisationName = object({ id: text(), name: text() }, { title: 'OrganisationName' })

const plan = listedChoice(plans)

export const settingsRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/settings',
    access: 'viewer',
    response: Settings,
    async handle({ services, context, http }) {
      const { id, name, plan, createdAt } = await requireOrganisation(
        services,
        identityOf(context).organisationId,
      )
      const { maintenance, retentionDays, activityDays } = services
      const { lastAt, isDue } = await maintenance.scrubState()
      return {
        organisation: { id, name, plan, createdAt: formatInstant(createdAt) },
        windows: plans.map((each) => ({ plan: each, days: retentionDays[each] })),
        activityDays,
        ...http.installation,
        scrub: { lastAt: formatInstant(lastAt), isDue, reachesEveryByte: maintenance.scrubsEveryByte },
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/settings/hidden',
    access: 'viewer',
    query: { plan },
    response: HiddenByPlan,
    async handle(call) {
      const { services, query } = call
      const until = windowStart(services.retentionDays, query.plan, services.clock())
      return countHidden(services, organisationView(call), until)
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/organisation/rename',
    access: 'admin',
    body: { name: typed },
    bodyNamesNobody: true,
    response: OrganisationName,
    async handle({ services, context, body }) {
      const { organisationId } = identityOf(context)
      const { id, name } = await renameOrganisation(services, organisationId, body.name, originOf(context))
      return { id, name }
    },
  }),
]
