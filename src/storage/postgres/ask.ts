import { type ClientBase, Query, type QueryArrayConfig, type QueryResult } from 'pg'
import type { Row, Values } from '../rows/row.ts'
import type { Statement, Value } from './statement.ts'

/** What the driver sends. Made out of a text: an object that says all of it would be copied first, slowly. */
class NamedQuery extends Query<Row> {
  readonly name: string

  constructor({ name, text }: Statement, values: readonly Value[], done: Done) {
    super(text, [...values], done)
    this.name = name
  }
}

type Done = (error: Error | undefined, result: QueryResult<Row>) => void

/**
 * Asks a server. What the driver answers to a callback is garbage as soon as nobody uses it; the promises that it makes itself kept half
 * of that alive until the whole heap was looked at, with pauses of tens of milliseconds while many rows went by.
 */
export function ask(
  client: ClientBase,
  statement: Statement,
  values: readonly Value[],
): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    client.query(
      new NamedQuery(statement, values, (error, result) => (error ? reject(error) : resolve(result))),
    )
  })
}

/** The same, with rows as their values. */
export function askForValues(
  client: ClientBase,
  { name, text }: Statement,
  values: readonly Value[],
): Promise<Values[]> {
  const asked: QueryArrayConfig = { name, text, values: [...values], rowMode: 'array' }
  return new Promise((resolve, reject) => {
    client.query<unknown[]>(asked, (error, result) => (error ? reject(error) : resolve(result.rows)))
  })
}
