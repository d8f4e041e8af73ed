import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ActivityEntry, ActivityQuery, ActivityStore } from '../../domain/activity.ts'
import { formatInstant } from '../../domain/instant.ts'
import { maxPageSize } from '../../domain/page.ts'
import { type ActivityFilters, startOf, toQuery } from './list-activity.ts'

/** All that filters leave of an organisation's activity, newest first, page by page. */
export async function* pagesOfActivity(
  { activity }: { activity: ActivityStore },
  organisationId: string,
  filters: ActivityFilters,
): AsyncGenerator<ActivityEntry[]> {
  let after: ActivityQuery['after'] = startOf(filters)
  do {
    const { rows, next } = await activity.list(organisationId, {
      ...toQuery(filters),
      limit: maxPageSize,
      after,
    })
    if (rows.length > 0) yield rows
    after = next
    await nextTurn()
  } while (after !== null)
}

export const csvHeader = 'at,kind,actorKind,actorId,actor,target,sessions,events,ledgerIndex,requestId\r\n'

/** An entry as a line of CSV (RFC 4180). */
export function toCsvLine(entry: ActivityEntry): string {
  const { at, kind, actor, target, counts, ledgerIndex, requestId } = entry
  const [actorId, actorName] = actor.kind === 'command-line' ? ['', ''] : [actor.id, actor.name]
  const fields = [
    ...[formatInstant(at), kind, actor.kind, actorId, actorName, target ?? ''],
    ...[counts?.sessions ?? '', counts?.events ?? '', ledgerIndex ?? '', requestId ?? ''],
  ]
  return `${fields.map(toCsvField).join(',')}\r\n`
}

/** Where a cell can begin: at the field's start, or where a spreadsheet cuts that ends cells elsewhere, which it does within quotes too. */
const formulaStart = /(?:^|[;\t\r\n])\s*(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g

/** What a spreadsheet would take for a formula is kept from being one: names and request ids are anybody's to choose. */
function toCsvField(value: string | number): string {
  const text = String(value)
  const harmless = text.replace(formulaStart, "$&'")
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
