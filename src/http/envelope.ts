import { formatInstant, type Instant } from '../domain/instant.ts'
import type { FailureBody } from './schemas/envelope.ts'

let lastInstant: Instant = 0
let lastTimestamp = formatInstant(0)

/** What every answer carries. Writing an instant out costs more than looking whether it is still the same millisecond. */
export function metaOf(requestId: string, now: Instant): FailureBody['meta'] {
  if (now !== lastInstant) {
    lastInstant = now
    lastTimestamp = formatInstant(now)
  }
  return { requestId, timestamp: lastTimestamp }
}
