import { Problems } from '../../domain/errors.ts'
import { formatInstant } from '../../domain/instant.ts'
import { formatMonth } from '../../domain/month.ts'
import { requestKinds } from '../../domain/privacy-request.ts'
import type { Services } from '../../domain/services.ts'
import { noteExport } from '../../operations/activity.ts'
import {
  type RequestReport as Report,
  readMonthRange,
  reportRequests,
  toReportCsv,
} from '../../operations/request-report.ts'
import { identityOf, originOf, type RequestContext } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { integer, list, object, oneOf, optional, orNull, text } from '../schema.ts'
import { instant } from './fields.ts'

const figures = {
  received: integer(),
  done: integer(),
  rejected: integer(),
  open: integer(),
  overdue: integer(),
  inTime: integer(),
  late: integer(),
  medianMs: orNull(integer()),
  worstMs: orNull(integer()),
}

const MonthOfRequests = object(
  { month: text(), kind: oneOf(requestKinds), ...figures },
  { title: 'MonthOfRequests' },
)

const TotalOfRequests = object(
  { kind: orNull(oneOf(requestKinds)), ...figures },
  { title: 'TotalOfRequests' },
)

const RequestReport = object(
  {
    from: text(),
    to: text(),
    at: instant,
    months: list(MonthOfRequests),
    totals: list(TotalOfRequests),
    /** How long closed requests are kept. */
    keptDays: integer(),
  },
  { title: 'RequestReport' },
)

const month = optional(text({ maxLength: 7, 'x-rule': 'a month, such as 2026-01' }))

const reportParameters = { from: month, to: month }

export const requestReportRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/requests/report',
    access: 'viewer',
    query: reportParameters,
    response: RequestReport,
    async handle({ services, context, query }) {
      const { from, to, at, months, totals } = await readReport(services, context, query)
      return {
        ...{ from: formatMonth(from), to: formatMonth(to), at: formatInstant(at), totals },
        months: months.map((each) => ({ ...each, month: formatMonth(each.month) })),
        keptDays: services.activityDays,
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/requests/report/export',
    access: 'desk',
    query: reportParameters,
    response: null,
    async handle({ services, context, http, query }) {
      const report = await readReport(services, context, query)
      const months = [formatMonth(report.from), formatMonth(report.to)]
      const headers = [
        ...['Content-Disposition', `attachment; filename="lethe-requests-${months.join('-to-')}.csv"`],
        ...['Content-Type', 'text/csv; charset=utf-8'],
      ]
      const what = { kind: 'request-report.exported', target: months.join(' to ') } as const
      const { organisationId } = identityOf(context)
      await http.respond.stream(
        context,
        async ({ add }) => {
          await noteExport(services, organisationId, what, originOf(context))
          await add(toReportCsv(report))
        },
        headers,
      )
    },
  }),
]

function readReport(
  services: Services,
  context: RequestContext,
  query: { from?: string; to?: string },
): Promise<Report> {
  const problems = new Problems()
  const range = readMonthRange(query, services.clock(), problems)
  problems.throwIfAny()
  return reportRequests(services, identityOf(context).organisationId, range, context.gone)
}
