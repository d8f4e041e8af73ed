import { type Instant, startOfDay } from './instant.ts'
import type { Page } from './page.ts'
import type { PrivacyRequest } from './privacy-request.ts'

/** What a report needs of a request. */
export type ReportedRequest = Pick<
  PrivacyRequest,
  'id' | 'kind' | 'state' | 'receivedAt' | 'dueAt' | 'closedAt'
>

export type ReceivedPosition = Pick<PrivacyRequest, 'receivedAt' | 'id'>

interface ReceivedQuery {
  /** Inclusive. */
  from: Instant
  /** Exclusive. */
  to: Instant
  after: ReceivedPosition | null
  limit: number
}

/** How many requests of all organisations are not closed. A request is overdue from the day after it was due. */
interface DueRequests {
  overdue: number
  /** Due by a later instant, which is not included. */
  soon: number
}

export interface RequestReportStore {
  /** In the order in which they were received. Empty if the organisation does not exist. */
  received(organisationId: string, query: ReceivedQuery): Promise<Page<ReportedRequest, ReceivedPosition>>
  countDue(today: Instant, until: Instant): Promise<DueRequests>
}

/**
 * Whether a person was answered by the due date, which letters name as a day in UTC; `null` if that is not
 * decided yet, or if the request was cancelled. A rejection is an answer.
 */
export function isInTime(
  { state, dueAt, closedAt }: Pick<ReportedRequest, 'state' | 'dueAt' | 'closedAt'>,
  now: Instant,
): boolean | null {
  if (state === 'cancelled') return null
  if (closedAt !== null) return startOfDay(closedAt) <= dueAt
  return startOfDay(now) > dueAt ? false : null
}
