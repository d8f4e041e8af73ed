import type { ActivityEntry } from '../../domain/activity.ts'
import type { GiveWay } from '../../domain/fair-queue.ts'
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
  const { organisationId } = identityOf(context)
  const pages = pagesOfActivity(services, organisationId, filters)
  const headers = [
    ...['Content-Disposition', `attachment; filename="lethe-activity.${format}"`],
    ...(format === 'csv' ? ['Content-Type', 'text/csv; charset=utf-8'] : []),
  ]
  const write = format === 'csv' ? writeCsv : writeJson
  await respond.stream(
    context,
    ({ add, signal }) => services.jobs.run(organisationId, (giveWay) => write(pages, add, giveWay), signal),
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
