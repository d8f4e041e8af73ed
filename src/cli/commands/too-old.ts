import { type Clock, formatInstant } from '../../domain/instant.ts'
import { plans, type RetentionDays } from '../../domain/plan.ts'
import { longestDays } from '../../domain/retention-window.ts'
import type { TooOldRows } from '../../operations/import/import-lines.ts'

const dayMs = 86_400_000

/** Which window of which plan was too short for what an import read, and what would have kept it. */
export function tooOldInWords(
  { organisationId, plan, days, rows, oldestAt }: TooOldRows,
  { retentionDays, clock }: { retentionDays: RetentionDays; clock: Clock },
): string {
  const are = rows === 1 ? '1 line is' : `${rows} lines are`
  const were = rows === 1 ? 'was' : 'were'
  const said = `${are} older than the ${days} days that the plan ${plan} keeps, and ${were} not stored.`
  // A day more, so that it is not too old again when the next line is read.
  const needed = Math.ceil((clock() - oldestAt) / dayMs) + 1
  const it = rows === 1 ? 'it' : 'them'
  if (needed > longestDays) return `${said} No window is long enough to keep ${it}.`
  const other = plans.find((each) => retentionDays[each] >= needed)
  const move = other ? `lethe orgs set-plan ${organisationId} ${other}, or ` : ''
  return `${said} To keep ${it}: ${move}LETHE_RETENTION_DAYS=${plan}=${needed} for every command and the service; then import again.`
}

export function tooOldJson({ organisationId, plan, days, rows, oldestAt }: TooOldRows) {
  return { orgId: organisationId, plan, days, rows, oldestAt: formatInstant(oldestAt) }
}
