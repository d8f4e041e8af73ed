import type { Bytes } from './base64.ts'

/** A session in the import format. */
export interface SessionLine {
  type: 'session'
  /** May be omitted; otherwise the tracker that the line is sent to. */
  trackerId?: string | undefined
  subjectId: string
  sessionId: string
  startedAt: string | Date
  /** `startedAt` if omitted. */
  endedAt?: string | Date | undefined
  attributes?: Record<string, unknown> | undefined
  /** The subject's identifiers by name, such as `{ email: 'ada@example.com' }`. */
  identifiers?: Record<string, string | null | undefined> | undefined
}

/** An event in the import format. */
export interface EventLine {
  type: 'event'
  /** May be omitted; otherwise the tracker that the line is sent to. */
  trackerId?: string | undefined
  subjectId: string
  sessionId: string
  /** Derived from the content of the line if omitted: two such lines with the same content are one event. */
  eventId?: string | undefined
  name: string
  occurredAt: string | Date
  properties?: Record<string, unknown> | undefined
  /** The subject's identifiers by name, such as `{ email: 'ada@example.com' }`. */
  identifiers?: Record<string, string | null | undefined> | undefined
}

/** A line to ingest. */
export type IngestLine = SessionLine | EventLine

/** The maximum number of lines in a batch. */
export const maxBatchLines = 10_000

/** The maximum size of a batch before compression. */
export const maxBatchBytes = 4 * 1024 * 1024

/** The NDJSON of a batch. Throws a `RangeError` if the service would refuse it as too large. */
export function encodeBatch(lines: Iterable<IngestLine> | string): Bytes {
  const text = typeof lines === 'string' ? lines : joinLines(lines)
  const count = countLines(text)
  if (count > maxBatchLines)
    throw new RangeError(`A batch can have ${maxBatchLines} lines; this one has ${count}.`)
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > maxBatchBytes)
    throw new RangeError(`A batch can have ${maxBatchBytes} bytes; this one has ${bytes.length}.`)
  return bytes
}

function joinLines(lines: Iterable<IngestLine>): string {
  let text = ''
  for (const line of lines) text += `${JSON.stringify(line)}\n`
  return text
}

function countLines(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
