import { hash } from 'node:crypto'

/**
 * On a cluster a statement runs on at most one shard, on one because all subjects that it names are there, on
 * any number of shards, or never.
 */
type Shards = 'one' | 'colocated' | 'any' | 'never'

/**
 * SQL in PostgreSQL's dialect, with `:name` or `$1` for values. SQLite runs it without the parts that only
 * PostgreSQL supports, or a separate text.
 */
export interface Statement {
  readonly source: string
  /** The name under which a connection to PostgreSQL prepares it, so that it is parsed once. */
  readonly name: string
  /** With numbered parameters. */
  readonly text: string
  /** The parameter names in the order of their numbers; empty if the source numbers its parameters. */
  readonly parameters: readonly string[]
  readonly shards: Shards
  /** `null` if there is nothing to do on SQLite. */
  readonly sqlite: string | null
}

export type Value =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly (string | number | null | Uint8Array)[]

/** Values by parameter name. Values that a statement does not use are ignored. */
export type NamedValues = Readonly<Record<string, unknown>>

const made = new Map<string, Statement>()
// Not a cast, such as `::bigint`.
const named = /(?<!:):([a-zA-Z]\w*)/g

/**
 * The statement with this source. One that names a single subject, or none, must not need more than one
 * shard.
 */
export function statement(
  source: string,
  shards: Shards = 'one',
  sqlite: string | null = withoutPostgres(source),
): Statement {
  // The same text may be shared in one place, and PostgreSQL's alone in another.
  const id = `${sqlite}\0${source}`
  const known = made.get(id)
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
  made.set(id, fresh)
  return fresh
}

/** A statement of PostgreSQL alone: of its hot path, or a lock, which a single writer does not need. */
export function postgresOnly(source: string, shards?: Shards): Statement {
  return statement(source, shards, null)
}

/** Removes row locks and casts. On SQLite an array is passed as JSON. */
function withoutPostgres(source: string): string {
  return source
    .replace(/ FOR (?:NO KEY UPDATE|UPDATE|KEY SHARE)$/, '')
    .replaceAll(/::\w+/g, '')
    .replaceAll(/= ANY \((:\w+)\)/g, 'IN (SELECT value FROM json_each($1))')
}

/** Every statement created so far, so that tests can check all of them. */
export function statements(): readonly Statement[] {
  return [...made.values()]
}

/** The values of a statement's parameters, in the order of their numbers, as an engine stores them. */
export function valuesOf<Stored>(
  { parameters, text }: Statement,
  given: NamedValues,
  toStored: (value: Value) => Stored,
): Stored[] {
  const values: Stored[] = []
  for (const name of parameters) {
    const value = given[name]
    if (!isValue(value)) throw new Error(`No value for "${name}" in: ${text}`)
    values.push(toStored(value))
  }
  return values
}

function isValue(value: unknown): value is Value {
  const type = typeof value
  if (type === 'string' || type === 'number' || type === 'boolean' || value === null) return true
  return value instanceof Uint8Array || Array.isArray(value)
}

/** Replaces question marks with numbered parameters, starting at `first`. */
export function numbered(text: string, first: number): string {
  let number = first
  return text.replaceAll('?', () => `$${number++}`)
}
