import { type Context, ROOT_CONTEXT, type SpanContext, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { reveals, revealsInHex } from '../domain/reveals.ts'
import type { RequestContext } from '../http/request-context.ts'
import { bodyNamesPerson, namedInUrl } from '../http/request-log.ts'

type Headers = RequestContext['request']['headers']

const propagator = new W3CTraceContextPropagator()
const getter = {
  get: (headers: Headers, name: string) => headers[name],
  keys: (headers: Headers) => Object.keys(headers),
}

/** What `traceparent` and `tracestate` say; `null` if they are absent or invalid. */
export function sentContext({ request: { headers } }: RequestContext): SpanContext | null {
  if (headers.traceparent === undefined) return null
  return trace.getSpanContext(propagator.extract(ROOT_CONTEXT, headers, getter)) ?? null
}

/**
 * The client's trace as the parent of its request's span. The client chooses its IDs and its state, so what
 * reveals a person is left out. A state is kept only if the body cannot name anybody.
 */
export function parentContext(context: RequestContext, sent: SpanContext | null): Context {
  const named = sent && namedInUrl(context)
  if (!sent || !named) return ROOT_CONTEXT
  const { traceState, ...ids } = sent
  if (named.some((text) => [ids.traceId, ids.spanId].some((digits) => revealsInHex(digits, text))))
    return ROOT_CONTEXT
  const state = traceState?.serialize() ?? ''
  const isStateKept = !bodyNamesPerson(context) && !named.some((text) => reveals(state, text))
  return trace.setSpanContext(ROOT_CONTEXT, isStateKept ? sent : ids)
}
