import { type ClientBase, Query, type QueryArrayConfig, type QueryResult } from 'pg'
import type { Row, Values } from '../nouns/row.ts'
import { type Parameters, type Statement, type Value, valuesOf } from '../nouns/statement.ts'
import { keyText } from './key-text.ts'

/** Values in the order of a statement's parameters, or by their names. */
export type Given = readonly Value[] | Parameters

/** What the driver sends. Made out of a text: an object that says all of it would be copied first, slowly. */
class NamedQuery extends Query<Row> {
  readonly name: string

  constructor(statement: Statement, given: Given, done: Done) {
    super(statement.text, toValues(statement, given), done)
    this.name = statement.name
  }
}

type Done = (error: Error | undefined, result: QueryResult<Row>) => void

/**
 * Asks a server. What the driver answers to a callback is garbage as soon as nobody uses it; the promises that it makes itself kept half
 * of that alive until the whole heap was looked at, with pauses of tens of milliseconds while many rows went by.
 */
export function ask(client: ClientBase, statement: Statement, given: Given): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    client.query(
      new NamedQuery(statement, given, (error, result) => (error ? reject(error) : resolve(result))),
    )
  })
}

/** The same, with rows as their values. */
export function askForValues(client: ClientBase, statement: Statement, given: Given): Promise<Values[]> {
  const { name, text } = statement
  const asked: QueryArrayConfig = { name, text, values: toValues(statement, given), rowMode: 'array' }
  return new Promise((resolve, reject) => {
    client.query<unknown[]>(asked, (error, result) => (error ? reject(error) : resolve(result.rows)))
  })
}

function toValues(statement: Statement, given: Given): unknown[] {
  return isList(given) ? [...given] : valuesOf(statement, given).map(toStored)
}

function isList(given: Given): given is readonly Value[] {
  return Array.isArray(given)
}

/** Bytes are the keys and digests that PostgreSQL stores as uuids. */
function toStored(value: Value): unknown {
  if (value instanceof Uint8Array) return keyText(value)
  return Array.isArray(value)
    ? value.map((each) => (each instanceof Uint8Array ? keyText(each) : each))
    : value
}
