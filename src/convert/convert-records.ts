import { InvalidLine, parseImportLine } from '../domain/ingest.ts'
import { formatInstant } from '../domain/instant.ts'
import { type Conversion, type Cut, type ImportLine, UnusableRecord } from './format.ts'

export interface ConvertSummary {
  /** The records that were read. */
  records: number
  /** Of these, those that could not be used, or not completely. */
  unusable: number
  /** Of these, those that were left out on purpose. */
  skipped: number
  /** The lines that were written. */
  sessions: number
  events: number
  /** Why records could not be used. */
  reasons: Map<string, ReasonCount>
}

interface ReasonCount {
  records: number
  /** The first of them. */
  file: string
  number: number
}

export function emptyConvertSummary(): ConvertSummary {
  return { records: 0, unusable: 0, skipped: 0, sessions: 0, events: 0, reasons: new Map() }
}

/** Reasons are few, unless a format puts something from the file into them. */
const maxReasons = 100
const otherReasons = 'other reasons'

export interface LineLimits {
  /** Written into each line. */
  trackerId: string | undefined
  /** An import refuses longer lines. */
  maxLineBytes: number
}

/** Converts records to lines and counts them. Every line that it returns can be imported. */
export class RecordConverter<Source> {
  readonly #conversion: Conversion<Source>
  readonly #limits: LineLimits
  readonly #summary: ConvertSummary

  constructor(conversion: Conversion<Source>, limits: LineLimits, summary: ConvertSummary) {
    this.#conversion = conversion
    this.#limits = limits
    this.#summary = summary
  }

  begin(columns: readonly string[]): void {
    this.#conversion.begin?.(columns)
  }

  /** Appends the lines of a record of a file to `output`. */
  convert({ source, number }: Cut<Source>, file: string, output: string[]): void {
    const summary = this.#summary
    summary.records += 1
    let reason: string | null = null
    try {
      if (source instanceof InvalidLine) throw source
      const lines = this.#conversion.convert(source)
      if (lines.length === 0) summary.skipped += 1
      for (const line of lines) reason = this.#write(line, output) ?? reason
    } catch (error) {
      reason = reasonOf(error)
    }
    if (reason !== null) this.#count(reason, file, number)
  }

  /** Returns why the line cannot be imported, or `null`. */
  #write(line: ImportLine, output: string[]): string | null {
    try {
      const text = serialise(line, this.#limits.trackerId)
      if (Buffer.byteLength(text) > this.#limits.maxLineBytes) {
        const limit = `${this.#limits.maxLineBytes / 1024} KiB (LETHE_MAX_LINE_KIB)`
        throw new UnusableRecord(`its line would be longer than ${limit}`)
      }
      parseImportLine(text, 'any')
      output.push(text)
    } catch (error) {
      return reasonOf(error)
    }
    if (line.type === 'session') this.#summary.sessions += 1
    else this.#summary.events += 1
    return null
  }

  #count(reason: string, file: string, number: number): void {
    const { reasons } = this.#summary
    const known = reasons.has(reason) || reasons.size < maxReasons ? reason : otherReasons
    const count = reasons.get(known) ?? { records: 0, file, number }
    count.records += 1
    reasons.set(known, count)
    this.#summary.unusable += 1
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof InvalidLine) return error.message
  throw error
}

function serialise(line: ImportLine, trackerId: string | undefined): string {
  const { type, subjectId, sessionId, identifiers } = line
  const subject = { type, trackerId, subjectId, sessionId }
  const rest =
    line.type === 'session'
      ? {
          startedAt: formatInstant(line.startedAt),
          endedAt: line.endedAt === undefined ? undefined : formatInstant(line.endedAt),
          attributes: line.attributes,
        }
      : {
          eventId: line.eventId,
          name: line.name,
          occurredAt: formatInstant(line.occurredAt),
          properties: line.properties,
        }
  try {
    return JSON.stringify({ ...subject, ...rest, identifiers })
  } catch (error) {
    // The stack is exhausted.
    if (error instanceof RangeError) throw new UnusableRecord('its fields are nested too deeply')
    throw error
  }
}
