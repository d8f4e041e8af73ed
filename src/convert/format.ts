import { InvalidLine } from '../domain/ingest.ts'
import type { Instant } from '../domain/instant.ts'
import type { Attributes } from '../domain/session.ts'

/** A line of the import format before it is written. Fields that are undefined are left out. */
export type ImportLine = SessionLine | EventLine

interface LineOfSubject {
  subjectId: string
  sessionId: string
  identifiers?: Readonly<Record<string, string>> | undefined
}

export interface SessionLine extends LineOfSubject {
  type: 'session'
  startedAt: Instant
  endedAt?: Instant | undefined
  attributes?: Attributes | undefined
}

export interface EventLine extends LineOfSubject {
  type: 'event'
  /** An import derives it from the line's content if it is absent. */
  eventId?: string | undefined
  name: string
  occurredAt: Instant
  properties?: Attributes | undefined
}

/** Why a record cannot be used. The message never quotes values, which may be personal data. */
export class UnusableRecord extends InvalidLine {
  override name = 'UnusableRecord'
}

/** Why no further record of a file can be used, for example because a column is missing. */
export class UnusableFile extends Error {
  override name = 'UnusableFile'
}

/** A record with its number, from 1: that of its first line, or its position in a JSON document. */
export interface Cut<Source> {
  number: number
  source: Source | InvalidLine
}

/** Options that only some formats use, with the contents of the files that they name. */
export interface ConvertOptions {
  /** The parsed mapping of columns to fields. */
  map?: unknown
  /** The separator of columns. */
  delimiter?: string | undefined
  /** A secret from which visitors get their IDs. */
  salt?: Uint8Array
  daily?: true | undefined
  skipBots?: true | undefined
  skipStatic?: true | undefined
  dropQuery?: true | undefined
}

/** One record after the other becomes lines. Created for each command, so it may keep (bounded) state. */
export interface Conversion<Source> {
  /** Called with the column names of each CSV file, before its records. Throws `UnusableFile`. */
  begin?(columns: readonly string[]): void
  /** Returns no lines to skip a record, and throws `UnusableRecord` if it cannot be used. */
  convert(source: Source): readonly ImportLine[]
}

export type JsonObject = Readonly<Record<string, unknown>>

/** The fields of a CSV record by column name. Absent columns and fields are undefined. */
export type CsvRow = ReadonlyMap<string, string>

interface FormatBase<Input, Source> {
  name: string
  /** For the help: the data and where it is exported from. */
  summary: string
  input: Input
  /** The options that this format uses; all others are refused. */
  options?: readonly (keyof ConvertOptions)[]
  /** Throws a `UsageProblem` if an option is missing or invalid. */
  start(options: ConvertOptions): Conversion<Source>
}

/** Lines of text, such as a log or TSV. */
export type LineFormat = FormatBase<'lines', string>

/** JSON lines, an array of objects, or an object whose field `list` contains that array. */
export interface JsonFormat extends FormatBase<'json', JsonObject> {
  list?: string
}

/** CSV with a header. Fields in quotes may contain line breaks. */
export type CsvFormat = FormatBase<'csv', CsvRow>

export type Format = LineFormat | JsonFormat | CsvFormat

/** An option that a format needs is missing or invalid: exit code 2. */
export class UsageProblem extends Error {
  override name = 'UsageProblem'
}
