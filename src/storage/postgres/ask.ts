import type { ClientBase, QueryArrayConfig, QueryConfig, QueryResult } from 'pg'
import type { Row, Values } from '../rows/row.ts'

/**
 * Asks a server. What the driver answers to a callback is garbage as soon as nobody uses it; the promises that it makes itself kept half
 * of that alive until the whole heap was looked at, with pauses of tens of milliseconds while many rows went by.
 */
export function ask(client: ClientBase, config: QueryConfig): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    client.query<Row>(config, (error, result) => (error ? reject(error) : resolve(result)))
  })
}

/** The same, with rows as their values. */
export function askForValues(client: ClientBase, config: QueryConfig): Promise<Values[]> {
  const asked: QueryArrayConfig = { ...config, rowMode: 'array' }
  return new Promise((resolve, reject) => {
    client.query<unknown[]>(asked, (error, result) => (error ? reject(error) : resolve(result.rows)))
  })
}
