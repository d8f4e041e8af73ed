import type { Services } from '../../domain/services.ts'
import { csvHeader, pagesOfActivity, toCsvLine } from '../../operations/activity/export-activity.ts'
import type { ActivityFilters } from '../../operations/activity/list-activity.ts'
import { type HttpTools, identityOf, type RequestContext } from '../request-context.ts'
import { presentActivity } from './present.ts'

/** Streams all that filters leave of the activity, as a file. */
export async function exportActivity(
  services: Services,
  { respond }: HttpTools,
  context: RequestContext,
  filters: ActivityFilters,
  format: 'csv' | 'json',
): Promise<undefined> {
  const pages = pagesOfActivity(services, identityOf(context).organisationId, filters)
  const headers = [
    ...['Content-Disposition', `attachment; filename="lethe-activity.${format}"`],
    ...(format === 'csv' ? ['Content-Type', 'text/csv; charset=utf-8'] : []),
  ]
  await respond.stream(
    context,
    async ({ add }) => {
      if (format === 'csv') {
        await add(csvHeader)
        for await (const entries of pages) await add(entries.map(toCsvLine).join(''))
        return
      }
      await add('{"entries":[')
      let separator = '\n'
      for await (const entries of pages) {
        await add(separator + entries.map((entry) => JSON.stringify(presentActivity(entry))).join(',\n'))
        separator = ',\n'
      }
      await add('\n]}\n')
    },
    headers,
  )
}
