import type { SweptCounts } from '../../domain/retention.ts'
import { integer, type Row } from './row.ts'

/** Everything was collected before it. */
export const afterEverything = Number.MAX_SAFE_INTEGER

export function toHeldCounts(row: Row): SweptCounts {
  return {
    subjects: integer(row, 'subjects'),
    sessions: integer(row, 'sessions'),
    events: integer(row, 'events'),
  }
}
