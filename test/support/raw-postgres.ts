import { Client } from 'pg'
import type { Lifetime } from './service.ts'
import { until } from './until.ts'

/** Connects to a database until the test ends. */
export async function connectTo(lifetime: Lifetime, address: string): Promise<Client> {
  const client = new Client(address)
  await client.connect()
  lifetime.after(() => client.end())
  return client
}

/** Returns the rows of one statement, on its own connection. */
export async function query(address: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client(address)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Waits until this many connections to the database of `observer` wait for a lock. */
export function waitForLocks(observer: Client, count: number): Promise<void> {
  return until(async () => {
    const { rows } = await observer.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    return rows.length >= count
  }, 60_000)
}
