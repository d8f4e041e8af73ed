import { formatInstant } from '../../domain/instant.ts'
import type { ExportedEvent, ExportedSession, ExportPart, TakePart } from '../../domain/subject-export.ts'
import { presentRecord } from './routes/subjects.ts'

/** Writes an export as one JSON object, in pieces, between what comes before and what `end` is given: the record's fields, two lists. */
export function exportWriter(
  trackerId: string,
  add: (text: string) => Promise<void>,
  before = '',
): { take: TakePart; end(after: string): Promise<void> } {
  /** The list that is open: none before the record. */
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

// What was collected is JSON already, and goes out as it is stored.

function sessionJson({ sessionId, startedAt, endedAt, counts, attributes }: ExportedSession): string {
  const times = `"startedAt":"${formatInstant(startedAt)}","endedAt":"${formatInstant(endedAt)}"`
  return `{"sessionId":${JSON.stringify(sessionId)},${times},"counts":{"events":${counts.events}},"attributes":${attributes}}`
}

function eventJson({ eventId, sessionId, name, occurredAt, properties }: ExportedEvent): string {
  const ids = `"eventId":${JSON.stringify(eventId)},"sessionId":${JSON.stringify(sessionId)}`
  return `{${ids},"name":${JSON.stringify(name)},"occurredAt":"${formatInstant(occurredAt)}","properties":${properties}}`
}
