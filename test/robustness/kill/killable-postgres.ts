import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { escapeIdentifier } from 'pg'
import { commandLine } from '../../support/command-line.ts'
import type { PostgresServer } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { queryable, withDatabase } from '../fleet/database.ts'
import type { Disturbance, MakeKillable, Snapshot } from './killable-store.ts'
import { killed } from './killing.ts'

/** Databases of a server on which processes die, and which is itself killed under them. */
export function killablePostgres(server: () => PostgresServer): MakeKillable {
  return async (t, random) => {
    const postgres = server()
    const [work, before] = [`work-${randomUUID()}`, `before-${randomUUID()}`]
    const cli = commandLine(t, databaseUrl(postgres, work))
    await copyDatabase(postgres, work)

    /** Whether the program had to do without PostgreSQL. It then says so in one line, which holds no secret. */
    const restartUnder: Disturbance = async (program) => {
      await postgres.stop(random.pick(['fast', 'immediate', 'killed']))
      await postgres.start()
      const { code, stderr } = await program.ended
      assert.ok(!stderr.includes(new URL(postgres.url).password))
      if (code !== 0) assert.match(stderr, /^error: [^\n]+\n$/m)
      return code !== 0
    }
    return {
      cli,
      work: snapshot(postgres, work),
      async keep() {
        await copyDatabase(postgres, before, work)
        return snapshot(postgres, before)
      },
      restore: () => copyDatabase(postgres, work, before),
      async leftBehind() {
        // PostgreSQL may not be done with what a dead process had asked for.
        await until(async () => (await countConnections(postgres, work)) === 0)
        return snapshot(postgres, work)
      },
      // A process begins to work when it connects.
      hasBegun: async () => (await countConnections(postgres, work)) > 0,
      disturbances: [killed, restartUnder],
    }
  }
}

function snapshot(server: PostgresServer, database: string): Snapshot {
  const address = databaseUrl(server, database)
  return {
    ...queryable((sql) => withDatabase(address, (client) => client.query(sql))),
    address,
    tables: 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY name',
  }
}

/** The address of a database of a server. */
function databaseUrl(server: PostgresServer, name: string): string {
  const url = new URL(server.url)
  url.pathname = name
  return url.href
}

/** Puts a copy of a database that nobody uses in the place of another; of an empty one, unless told. */
async function copyDatabase(server: PostgresServer, to: string, from = 'template0'): Promise<void> {
  await withDatabase(server.url, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(to)} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${escapeIdentifier(to)} TEMPLATE ${escapeIdentifier(from)}`)
  })
}

/** How many connections a program has to a database. */
function countConnections(server: PostgresServer, database: string): Promise<number> {
  return withDatabase(server.url, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_stat_activity WHERE datname = $1', [database])
    return rowCount ?? 0
  })
}
