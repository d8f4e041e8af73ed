import { type Attributes, ROOT_CONTEXT, type Tracer } from '@opentelemetry/api'
import type { PrivacyRequest } from '../domain/privacy-request.ts'
import type { MaintenanceReports } from '../maintenance/maintenance.ts'
import { hrTime } from './hr-time.ts'

export interface JobSpans {
  maintenance: Pick<MaintenanceReports, 'onSwept' | 'onScrubbed'>
  onRequestSlice(request: PrivacyRequest, durationMs: number): void
}

/** Spans of the work that no request waits for. It reports when it has ended. */
export function jobSpans(tracer: Tracer): JobSpans {
  function record(name: string, durationMs: number, attributes: Attributes): void {
    const now = Date.now()
    const startTime = hrTime(now - durationMs)
    tracer.startSpan(name, { startTime, attributes }, ROOT_CONTEXT).end(hrTime(now))
  }
  return {
    maintenance: {
      onSwept({ swept, durationMs, isComplete }) {
        record('sweep', durationMs, {
          'lethe.sweep.complete': isComplete,
          ...prefixed('lethe.swept', { ...swept }),
        })
      },
      onScrubbed: (durationMs) => record('scrub', durationMs, {}),
    },
    onRequestSlice: ({ id, organisationId }, durationMs) =>
      record('privacy request', durationMs, {
        'lethe.privacy_request.id': id,
        'lethe.organisation.id': organisationId,
      }),
  }
}

function prefixed(prefix: string, counts: Record<string, number>): Attributes {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [`${prefix}.${name}`, count]))
}
