import type { Instant } from './instant.ts'

/** What a sweep deleted. */
export interface SweptCounts {
  subjects: number
  sessions: number
  events: number
}

export interface RetentionStore {
  /**
   * Deletes what a tracker holds from before `since`, in one transaction of about `maxRows` rows: events by their own time, sessions
   * by their end, subjects of which nothing is left. What stays is counted anew in the same transaction. Not done as long as there
   * may be more. Does not block other requests.
   */
  sweep(trackerId: string, since: Instant, maxRows: number): Promise<SweptCounts & { isDone: boolean }>
}
