import { dayMs } from './components/days.ts'
import type { Request } from './types.ts'

/** How urgent an open request is. */
export type Urgency = 'overdue' | 'soon' | 'later'

/** The time limit of a request as it stands at an instant. */
interface Deadline {
  urgency: Urgency
  /** Calendar days until it is due, or since it was. */
  days: number
  words: string
  /** How much of the time has passed, from 0 to 1. */
  share: number
}

/** From here on, a request is due soon; the service counts the same. */
const soonMs = 7 * dayMs

export function deadlineOf(
  { receivedAt, dueAt }: Pick<Request, 'receivedAt' | 'dueAt'>,
  now: number,
): Deadline {
  const [start, due] = [Date.parse(receivedAt), Date.parse(dueAt)]
  const days = Math.abs(calendarDay(due) - calendarDay(now))
  const share = due > start ? Math.min(1, Math.max(0, (now - start) / (due - start))) : 1
  if (due < now) return { urgency: 'overdue', days, words: overdueInWords(days), share: 1 }
  return { urgency: due - now < soonMs ? 'soon' : 'later', days, words: leftInWords(days), share }
}

function leftInWords(days: number): string {
  if (days === 0) return 'due today'
  return days === 1 ? '1 day left' : `${days} days left`
}

function overdueInWords(days: number): string {
  if (days === 0) return 'overdue'
  return days === 1 ? '1 day overdue' : `${days} days overdue`
}

/** A number for each day of the reader's calendar. */
function calendarDay(instant: number): number {
  const date = new Date(instant)
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / dayMs)
}
