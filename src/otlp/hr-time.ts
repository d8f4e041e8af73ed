import type { HrTime } from '@opentelemetry/api'

/** Milliseconds since 1970 as seconds and nanoseconds, the form that the SDK takes as it is. */
export function hrTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1_000)
  return [seconds, Math.round((epochMs - seconds * 1_000) * 1e6)]
}
