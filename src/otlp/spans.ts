import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traces,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { PrivacyRequest } from '../domain/privacy-request.ts'
import { reveals, revealsInHex } from '../domain/reveals.ts'
import type { RequestTraces } from '../http/pipeline.ts'
import type { RequestContext } from '../http/request-context.ts'
import { bodyNamesPerson, namedInUrl } from '../http/request-log.ts'
import type { RequestTrace } from '../http/request-trace.ts'
import { errorStatus } from '../http/response.ts'
import type { MaintenanceReports } from '../maintenance/maintenance.ts'

/** A call to the store or the limiter. Its arguments are not recorded. */
interface RecordedCall {
  name: string
  attributes: Attributes
  startedAt: number
  endedAt: number
  /** The class of the error; `null` if there was none. */
  failure: string | null
}

/** A request with more calls shows only the first ones. */
const maxCalls = 64

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const codes = new Map<number, string>(Object.entries(errorStatus).map(([code, status]) => [status, code]))

/** The record of a request. Its spans are only created when it has ended and everything about it is known. */
class Recording implements RequestTrace {
  traceId: string | null = null
  sentIds: readonly string[] = []
  sent: SpanContext | null
  readonly steps: { name: string; at: number }[] = []
  readonly calls: RecordedCall[] = []

  constructor(sent: SpanContext | null) {
    this.sent = sent
    if (sent) this.sentIds = [sent.traceId, sent.spanId]
  }

  forgetSent(): void {
    this.sent = null
  }
}

/** Records requests with their steps and calls, and creates their spans. */
export class RequestSpans implements RequestTraces {
  readonly #tracer: Tracer
  readonly #current = new AsyncLocalStorage<Recording>()

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  begin(context: RequestContext): void {
    context.trace = new Recording(sentContext(context))
  }

  step(name: string, run: Parameters<RequestTraces['step']>[1]): typeof run {
    return (context) => {
      const { trace } = context
      if (!(trace instanceof Recording)) return run(context)
      trace.steps.push({ name, at: performance.now() })
      return this.#current.run(trace, run, context)
    }
  }

  /** Records a call that the current request makes, if there is one. */
  call<Result>(name: string, attributes: Attributes, run: () => Result): Result {
    const recording = this.#current.getStore()
    if (recording === undefined || recording.calls.length >= maxCalls) return run()
    const call: RecordedCall = { name, attributes, startedAt: performance.now(), endedAt: 0, failure: null }
    recording.calls.push(call)
    const end = () => {
      call.endedAt = performance.now()
    }
    const fail = (error: unknown) => {
      call.failure = error instanceof Error ? error.name : typeof error
      end()
    }
    try {
      const result = run()
      if (result instanceof Promise) result.then(end, fail)
      else end()
      return result
    } catch (error) {
      fail(error)
      throw error
    }
  }

  end(context: RequestContext): void {
    const { trace: recording, request, match, startedAt } = context
    if (!(recording instanceof Recording)) return
    const endedAt = performance.now()
    // The same for all spans of a request, so that they do not shift against each other.
    const epochMs = Date.now() - endedAt
    const timeOf = (at: number) => hrTime(epochMs + at)
    const method = methods.has(request.method ?? '') ? (request.method ?? '') : '_OTHER'
    const span = this.#tracer.startSpan(
      `${method === '_OTHER' ? 'HTTP' : method}${match.path === null ? '' : ` ${match.path}`}`,
      { kind: SpanKind.SERVER, startTime: timeOf(startedAt), attributes: attributesOf(context, method) },
      parentContext(context, recording.sent),
    )
    recording.traceId = span.spanContext().traceId
    if (!span.isRecording()) return
    for (const { name, at } of recording.steps) span.addEvent(name, timeOf(at))
    const inSpan = traces.setSpan(ROOT_CONTEXT, span)
    for (const { name, attributes, startedAt, endedAt: finishedAt, failure } of recording.calls) {
      const startTime = timeOf(startedAt)
      const child = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime, attributes }, inSpan)
      if (failure !== null) {
        child.setAttribute('error.type', failure)
        child.setStatus({ code: SpanStatusCode.ERROR })
      }
      child.end(timeOf(finishedAt || endedAt))
    }
    if (context.response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(timeOf(endedAt))
  }
}

/** The names, by OpenTelemetry's conventions for HTTP servers, and our own. No URL, header or address. */
function attributesOf(context: RequestContext, method: string): Attributes {
  const { request, response, match, owner, keptId } = context
  const status = response.headersSent ? response.statusCode : null
  const code = status === null ? undefined : codes.get(status)
  const failure =
    status === null ? 'client_disconnected' : status >= 500 ? (code ?? String(status)) : undefined
  return {
    'http.request.method': method,
    'url.scheme': 'http',
    'network.protocol.version': request.httpVersion,
    'lethe.request.id': keptId,
    ...(match.path !== null && { 'http.route': match.path }),
    ...(status !== null && { 'http.response.status_code': status }),
    ...(failure !== undefined && { 'error.type': failure }),
    ...(code !== undefined && { 'lethe.error.code': code }),
    ...(owner !== null && { 'lethe.organisation.id': owner }),
  }
}

type Headers = RequestContext['request']['headers']

const propagator = new W3CTraceContextPropagator()
const getter = {
  get: (headers: Headers, name: string) => headers[name],
  keys: (headers: Headers) => Object.keys(headers),
}

/** What `traceparent` and `tracestate` say; `null` if they are absent or invalid. */
function sentContext({ request: { headers } }: RequestContext): SpanContext | null {
  if (headers.traceparent === undefined) return null
  return traces.getSpanContext(propagator.extract(ROOT_CONTEXT, headers, getter)) ?? null
}

/**
 * The client's trace as the parent of its request's span. The client chooses its IDs and its state, so what
 * reveals a person is left out. A state is kept only if the body cannot name anybody.
 */
function parentContext(context: RequestContext, sent: SpanContext | null): Context {
  const named = sent && namedInUrl(context)
  if (!sent || !named) return ROOT_CONTEXT
  const { traceState, ...ids } = sent
  if (named.some((text) => [ids.traceId, ids.spanId].some((digits) => revealsInHex(digits, text))))
    return ROOT_CONTEXT
  const state = traceState?.serialize() ?? ''
  const isStateKept = !bodyNamesPerson(context) && !named.some((text) => reveals(state, text))
  return traces.setSpanContext(ROOT_CONTEXT, isStateKept ? sent : ids)
}

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

/** Milliseconds since 1970 as seconds and nanoseconds, the form that the SDK takes as it is. */
export function hrTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1_000)
  return [seconds, Math.round((epochMs - seconds * 1_000) * 1e6)]
}
