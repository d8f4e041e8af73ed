import type { IncomingIdentifiers, IncomingRow } from '../../domain/ingest.ts'
import { subjectKey } from '../../domain/subject.ts'
import type { BatchEvent, BatchSession, SubjectBatch } from '../rules/ingest-batch.ts'

// On the way to the writer thread, a row is a line of fields, which IDs and JSON cannot contain a separator
// of. The thread decodes one subject at a time, so that few objects exist at once.

/** Memory of this size is returned to the system when freed; malloc keeps much larger blocks. */
const rowsPerPiece = 500
const encoder = new TextEncoder()

/** Encodes rows for the writer thread, in steps. */
export function* packRows(rows: readonly IncomingRow[]): Generator<void, ArrayBuffer[]> {
  const pieces: ArrayBuffer[] = []
  for (let from = 0; from < rows.length; from += rowsPerPiece) {
    const lines = rows.slice(from, from + rowsPerPiece).map(toLine)
    pieces.push(encoder.encode(lines.join('\n')).buffer)
    yield
  }
  return pieces
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

/** The subjects of a batch, ordered by key, so that tables are written in order. The buffers are empty afterwards. */
export function unpackSubjects(pieces: readonly ArrayBuffer[]): PackedSubject[] {
  const subjects = new Map<string, PackedSubject>()
  for (const piece of pieces) {
    const lines = Buffer.from(piece).toString().split('\n')
    // Frees its memory now instead of at the next collection.
    piece.transfer(0)
    for (const line of lines) {
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
