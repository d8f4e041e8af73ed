import { Client } from 'pg'

/** Creates a database on a server and returns its address. */
export async function createDatabase(server: string, name: string): Promise<string> {
  const client = new Client(server)
  await client.connect()
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  await client.end()
  const address = new URL(server)
  address.pathname = name
  return address.href
}

export async function postgresVersion(client: Client): Promise<string> {
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
  return rows[0]?.server_version ?? 'unknown'
}
