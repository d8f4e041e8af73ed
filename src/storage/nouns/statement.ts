import { hash } from 'node:crypto'

/** On a cluster a statement runs on one shard at most, or on any number of them, or it is never run there. */
export type Shards = 'one' | 'any' | 'never'

/**
 * SQL in PostgreSQL's dialect, with `:name` or `$1` where values go. SQLite runs the same without what only PostgreSQL knows, or a text of its own.
 */
export interface Statement {
  readonly source: string
  /** Under which each connection to PostgreSQL knows it, so that it is parsed once. */
  readonly name: string
  /** With numbered parameters. */
  readonly text: string
  /** What the parameters are called, in the order of their numbers; empty where they have no names. */
  readonly parameters: readonly string[]
  readonly shards: Shards
  /** `null` where there is nothing to do on SQLite. */
  readonly sqlite: string | null
}

export type Value =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly (string | number | null | Uint8Array)[]

/** Values by the names of parameters. Those that a statement does not name are ignored. */
export type NamedValues = Readonly<Record<string, unknown>>

const made = new Map<string, Statement>()
// Not a cast, such as `::bigint`.
const named = /(?<!:):([a-zA-Z]\w*)/g

/** The statement with this text. One that names a single subject, or none, must not need more than one shard. */
export function statement(
  source: string,
  shards: Shards = 'one',
  sqlite: string | null = withoutPostgres(source),
): Statement {
  const known = made.get(source)
  if (known) return known
  const parameters = [...new Set(Array.from(source.matchAll(named), ([, name = '']) => name))]
  const number = (sql: string, sign: '$' | '?') =>
    sql.replaceAll(named, (_, name) => `${sign}${parameters.indexOf(name) + 1}`)
  const text = number(source, '$')
  const fresh = {
    source,
    name: `lethe_${hash('sha1', text).slice(0, 16)}`,
    text,
    parameters,
    shards,
    sqlite: sqlite && number(sqlite, '?'),
  }
  made.set(source, fresh)
  return fresh
}

/** A statement that only PostgreSQL needs, where transactions run side by side: a lock. SQLite has one writer. */
export function postgresOnly(source: string): Statement {
  return statement(source, 'one', null)
}

/** Leaves out row locks and casts. An array is a text of JSON on SQLite. */
function withoutPostgres(source: string): string {
  return source
    .replace(/ FOR (?:NO KEY UPDATE|UPDATE|KEY SHARE)$/, '')
    .replaceAll(/::\w+/g, '')
    .replaceAll(/= ANY \((:\w+)\)/g, 'IN (SELECT value FROM json_each($1))')
}

/** Every statement that has been made so far: what is written down here cannot be forgotten by a test of them all. */
export function statements(): readonly Statement[] {
  return [...made.values()]
}

/** The values of a statement's parameters, in the order of their numbers. */
export function valuesOf({ parameters, text }: Statement, given: NamedValues): Value[] {
  return parameters.map((name) => {
    const value = given[name]
    if (!isValue(value)) throw new Error(`No value for "${name}" in: ${text}`)
    return value
  })
}

function isValue(value: unknown): value is Value {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value instanceof Uint8Array ||
    Array.isArray(value)
  )
}

/** Replaces question marks by numbered parameters, from `first` on. */
export function numbered(text: string, first: number): string {
  let number = first
  return text.replaceAll('?', () => `$${number++}`)
}
