import type { IncomingIdentifiers, IncomingRow } from '../../domain/ingest.ts'
import { subjectKey } from '../../domain/subject.ts'
import type { BatchEvent, BatchSession, SubjectBatch } from './ingest-batch.ts'

// While rows wait to be stored, and on the way to a writer thread, a row is a line of fields, which IDs and
// JSON cannot contain a separator of. The subjects are decoded one by one, so that few objects exist at once.

const encoder = new TextEncoder()

/** Encodes at least one row. */
export function packRows(rows: readonly IncomingRow[]): ArrayBuffer {
  return encoder.encode(rows.map(toLine).join('\n')).buffer
}

function toLine(row: IncomingRow): string {
  const identifiers = row.identifiers ? JSON.stringify(row.identifiers) : ''
  const start = `${row.trackerId}\t${row.subjectId}\t${identifiers}\t${row.sessionId}`
  return row.type === 'session'
    ? `${start}\t${row.startedAt}\t${row.endedAt}\t${JSON.stringify(row.attributes)}`
    : `${start}\t${row.occurredAt}\t${row.eventId}\t${JSON.stringify(row.properties)}\t${row.name}`
}

/** The encoded rows of one subject. */
export interface PackedSubject extends Pick<SubjectBatch, 'number' | 'key' | 'trackerId' | 'subjectId'> {
  lines: string[]
  /** The first bytes of the key, which sort faster than the key. */
  order: number
}

/** The subjects of a batch, ordered by key, so that tables are written in order. */
export function unpackSubjects(pieces: Iterable<ArrayBuffer>): PackedSubject[] {
  const subjects = new Map<string, PackedSubject>()
  for (const piece of pieces) {
    for (const line of Buffer.from(piece).toString().split('\n')) {
      const middle = line.indexOf('\t')
      const end = line.indexOf('\t', middle + 1)
      const name = line.slice(0, end)
      const known = subjects.get(name)
      if (known) {
        known.lines.push(line)
        continue
      }
      const trackerId = line.slice(0, middle)
      const subjectId = line.slice(middle + 1, end)
      const key = Buffer.from(subjectKey(trackerId, subjectId))
      const order = key.readUIntBE(0, 6)
      subjects.set(name, { number: subjects.size, key, order, trackerId, subjectId, lines: [line] })
    }
  }
  return [...subjects.values()].sort((a, b) => a.order - b.order)
}

/** Decodes the rows of a subject. */
export function unpackRows({ number, key, trackerId, subjectId, lines }: PackedSubject): SubjectBatch {
  const sessions: BatchSession[] = []
  const events: BatchEvent[] = []
  for (const line of lines) {
    const [, , brought = '', sessionId = '', at, id = '', json = '', name] = line.split('\t')
    const identifiers: IncomingIdentifiers | undefined = brought === '' ? undefined : JSON.parse(brought)
    if (name === undefined) {
      sessions.push({ sessionId, startedAt: Number(at), endedAt: Number(id), attributes: json, identifiers })
    } else {
      events.push({ sessionId, occurredAt: Number(at), eventId: id, name, properties: json, identifiers })
    }
  }
  return { number, key, trackerId, subjectId, sessions, events }
}
