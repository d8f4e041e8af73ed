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
  const days = calendarDay(due) - calendarDay(now)
  const share = due > start ? Math.min(1, Math.max(0, (now - start) / (due - start))) : 1
  // The day of the reader can differ from the one in UTC.
  if (isAfterDay(new Date(now).toISOString(), dueAt)) {
    const since = Math.max(0, -days)
    return { urgency: 'overdue', days: since, words: overdueInWords(since), share: 1 }
  }
  const left = Math.max(0, days)
  return { urgency: due - now < soonMs ? 'soon' : 'later', days: left, words: leftInWords(left), share }
}

/** Whether an answer is late: it is in time until the end of the day of `dueAt` in UTC, which letters name. */
export function isAfterDay(at: string, dueAt: string): boolean {
  return at.slice(0, 10) > dueAt.slice(0, 10)
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
