import { isObject } from '../domain/json.ts'
import { objectField, textOf } from './fields.ts'
import type { JsonFormat, JsonObject } from './format.ts'
import { TrackingCallConversion } from './tracking-call.ts'

/** Calls as Segment archives them in S3 and other object stores. */
export const segment: JsonFormat = {
  name: 'segment',
  summary: 'Segment: calls archived in object storage, as JSON lines',
  input: 'json',
  start: () => new TrackingCallConversion(sessionOf),
}

/** Segment has no sessions, but an application or the plugin of a destination can add one. */
function sessionOf(call: JsonObject): unknown {
  const { sessionId } = objectField(call.context, 'context')
  if (textOf(sessionId) !== undefined) return sessionId
  const { integrations } = call
  const amplitude = isObject(integrations) ? integrations['Actions Amplitude'] : undefined
  const id = isObject(amplitude) ? amplitude.session_id : undefined
  // -1 means that there is none.
  return typeof id === 'number' && id > 0 ? id : undefined
}
