import { formatInstant } from '../../domain/instant.ts'
import type { ExportedEvent, ExportedSession, ExportPart, TakePart } from '../../domain/subject-export.ts'
import { exportSubject } from '../../operations/export-subject.ts'
import { readSubject } from '../../operations/subject.ts'
import { originOf } from '../request-context.ts'
import { defineRoute, trackerView } from '../route.ts'
import { list, object } from '../schema.ts'
import { Event } from './events.ts'
import { exampleEvents, exampleSessions, exampleSubject, exampleSubjectParameters } from './examples.ts'
import { Session } from './sessions.ts'
import { presentRecord, subjectFields, subjectPath } from './subjects.ts'

export const SubjectExport = object(
  {
    ...subjectFields,
    sessions: list(Session, { description: 'All items, oldest first.' }),
    events: list(Event, { description: 'All items, oldest first.' }),
  },
  { title: 'SubjectExport', description: 'Everything stored about one data subject.' },
)

export const exportSubjectRoute = defineRoute({
  method: 'GET',
  path: `${subjectPath}/export`,
  access: 'analytics:view',
  response: SubjectExport,
  documentation: {
    operationId: 'exportSubject',
    summary: 'Export everything stored about a data subject',
    description:
      'The record with all its sessions and events, oldest first, from one snapshot. It is streamed and counts as one request. If it fails midway, the connection ends before the JSON does: an export that parses is complete.',
    exampleParameters: exampleSubjectParameters,
    example: { ...exampleSubject, sessions: exampleSessions, events: exampleEvents },
  },
  async handle(call) {
    const { services, context, http } = call
    const { trackerId, subjectId } = call.path
    const view = trackerView(call, trackerId)
    // HEAD exports nothing, so the activity does not record it.
    if (context.request.method === 'HEAD') await readSubject(services, view, subjectId)
    await http.respond.stream(context, async ({ add, meta, signal }) => {
      const { take, end } = exportWriter(trackerId, add, '{"data":')
      await exportSubject(services, view, subjectId, originOf(context), { take, signal })
      await end(`,"meta":${JSON.stringify(meta())}}`)
    })
    return undefined
  },
})

/**
 * Writes an export in pieces as one JSON object: `before`, the record, two lists, and the text given to
 * `end`.
 */
export function exportWriter(
  trackerId: string,
  add: (text: string) => Promise<void>,
  before = '',
): { take: TakePart; end(after: string): Promise<void> } {
  /** The list that is being written; none before the record. */
  let list: ExportPart['kind'] = 'record'
  let separator = ''
  return {
    async take(part) {
      if (part.kind === 'record') {
        const record = JSON.stringify(presentRecord(trackerId, part.record))
        await add(`${before}${record.slice(0, -1)},"sessions":[`)
        list = 'sessions'
        return
      }
      let text = ''
      if (part.kind === 'events' && list === 'sessions') {
        text = '],"events":['
        list = 'events'
        separator = ''
      }
      const rows = part.kind === 'sessions' ? part.rows.map(sessionJson) : part.rows.map(eventJson)
      await add(`${text}${separator}${rows.join(',')}`)
      separator = ','
    },
    end: (after) => add(`${list === 'sessions' ? '],"events":[]}' : ']}'}${after}`),
  }
}

// Attributes and properties are stored as JSON and are written unchanged.

function sessionJson({ sessionId, startedAt, endedAt, counts, attributes }: ExportedSession): string {
  const times = `"startedAt":"${formatInstant(startedAt)}","endedAt":"${formatInstant(endedAt)}"`
  return `{"sessionId":${JSON.stringify(sessionId)},${times},"counts":{"events":${counts.events}},"attributes":${attributes}}`
}

function eventJson({ eventId, sessionId, name, occurredAt, properties }: ExportedEvent): string {
  const ids = `"eventId":${JSON.stringify(eventId)},"sessionId":${JSON.stringify(sessionId)}`
  return `{${ids},"name":${JSON.stringify(name)},"occurredAt":"${formatInstant(occurredAt)}","properties":${properties}}`
}
