import { setImmediate as nextTurn } from 'node:timers/promises'
import { type DailySum, type DailyTotalStore, type Day, dayOf } from '../domain/daily-total.ts'
import { notFound } from '../domain/errors.ts'
import type { SessionPosition, SessionStore } from '../domain/session.ts'
import type { TrackerRef, TrackerView } from '../domain/tracker.ts'

/** Only the newest sessions are summed. Hardly any subject has more. */
const summedSessions = 5_000
const chunkSize = 200

/** Days on which a subject started sessions, ascending, with the events of those sessions. */
interface SubjectDays {
  days: DailySum[]
  hasMore: boolean
}

/** Throws `not_found` if the subject is not visible. Yields to other requests. */
export async function sumDays(
  { sessions }: { sessions: SessionStore },
  tracker: TrackerView,
  subjectId: string,
  signal?: AbortSignal,
): Promise<SubjectDays> {
  const days = new Map<number, DailySum>()
  let after: SessionPosition | null = null
  for (let seen = 0; seen < summedSessions; ) {
    const page = await sessions.list(tracker, subjectId, { limit: chunkSize, after })
    if (page === null) throw notFound('This data subject')
    for (const { startedAt, counts } of page.rows) {
      const day = dayOf(startedAt)
      const sum = days.get(day) ?? { day, sessions: 0, events: 0 }
      days.set(day, { day, sessions: sum.sessions + 1, events: sum.events + counts.events })
    }
    seen += page.rows.length
    after = page.next
    if (after === null) break
    await nextTurn()
    signal?.throwIfAborted()
  }
  return { days: [...days.values()].sort((a, b) => a.day - b.day), hasMore: after !== null }
}

/** Both days are inclusive. Throws `not_found` if the tracker is not visible. */
export async function sumTotals(
  { dailyTotals }: { dailyTotals: DailyTotalStore },
  tracker: TrackerRef,
  from: Day,
  to: Day,
): Promise<DailySum[]> {
  const days = await dailyTotals.sum(tracker, from, to)
  if (days === null) throw notFound('This tracker')
  return days
}
