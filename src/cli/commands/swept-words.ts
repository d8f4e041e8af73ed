import type { SweptTotals } from '../../maintenance/sweep-aged.ts'

/** What was, or will be, deleted. */
export function sweptInWords({ subjects, sessions, events, activity }: SweptTotals): string {
  const visitors = `${events} events, ${sessions} sessions and ${subjects} subjects of which nothing is left`
  return activity === 0 ? visitors : `${visitors}, and ${activity} entries of the activity`
}

export function isNothing({ subjects, sessions, events, activity }: SweptTotals): boolean {
  return subjects + sessions + events + activity === 0
}
