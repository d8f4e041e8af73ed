import type { Budget } from '../../../domain/budget.ts'

const windows = new Map([
  [1_000, 'a second'],
  [60_000, 'a minute'],
  [3_600_000, 'an hour'],
  [86_400_000, 'a day'],
])

/** Such as "60 a minute". */
export function budgetInWords({ limit, windowMs }: Budget): string {
  return `${limit.toLocaleString('en')} ${windows.get(windowMs) ?? `in ${windowMs / 1_000} s`}`
}
