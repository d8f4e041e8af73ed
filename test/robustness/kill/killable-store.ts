import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { constants, copyFileSync, existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { escapeIdentifier } from 'pg'
import { subjectKey } from '../../../src/domain/subject.ts'
import type { Row } from '../../../src/storage/nouns/row.ts'
import { ask } from '../../storage/sqlite/open-shop.ts'
import { type CommandLine, commandLine, type RunningProgram } from '../../support/command-line.ts'
import type { PostgresServer } from '../../support/postgres.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { testSecretFile } from '../../support/test-keyring.ts'
import { until } from '../../support/until.ts'
import { queryable, withDatabase } from '../fleet/fleet.ts'
import { killed } from './killing.ts'

/** A sentence about a store, and a query for what contradicts it. */
export type Rule = readonly [rule: string, exceptions: string]

/** A store that answers SQL, as far as both engines understand it. */
export interface Queryable {
  /** Bytes come as hexadecimal digits. */
  ask(sql: string): Promise<Row[]>
  /** The key of a subject as its rows show it. */
  keyOf(trackerId: string, subjectId: string): string
  /** What only this engine can be asked. */
  rules: readonly Rule[]
}

/** A store that no process writes to. */
export interface Snapshot extends Queryable {
  address: string
  /** Asks for the name of every table there is. */
  tables: string
}

/** What a process does that one can see from outside, on a store that was closed before. */
export type Sign = 'opening' | 'maintenance' | 'writing'

/** Disturbs a program at work, and is done when that has ended. Whether it was still there to be disturbed. */
export type Disturbance = (program: RunningProgram) => Promise<boolean>

/** A store on which processes die, and what it takes to look at what they leave behind. */
export interface KillableStore {
  /** Works on it. */
  cli: CommandLine
  /** The store itself. To look at it may tidy it up. */
  work: Snapshot
  /** Puts a copy of the store aside, as the work finds it. */
  keep(): Promise<Snapshot>
  /** Puts that copy in the place of the store. */
  restore(): Promise<void>
  /** The store as dead processes left it: looking at it does not tidy up before the next one comes. */
  leftBehind(): Promise<Snapshot>
  hasBegun(sign: Sign): Promise<boolean>
  /** All that can happen to a process at work. */
  disturbances: readonly Disturbance[]
}

/** Makes an empty store that goes when the test does. */
export type MakeKillable = (t: TestContext, random: SeededRandom) => Promise<KillableStore>

/** An embedded store on which processes die. */
export async function killableSqlite(t: TestContext): Promise<KillableStore> {
  const cli = commandLine(t)
  copyFileSync(testSecretFile(), join(cli.folder, 'lethe.secret'))
  const folder = temporaryFolder(t)
  const [work, before, seen] = [cli.storePath, join(folder, 'before.db'), join(folder, 'seen.db')]
  const signs: Record<Sign, () => boolean> = {
    opening: () => existsSync(`${work}-wal`),
    maintenance: () => existsSync(`${work}-upkeep`),
    writing: () => logSize(work) > 0,
  }
  return {
    cli,
    work: snapshot(work),
    async keep() {
      copyStore(work, before)
      return snapshot(before)
    },
    async restore() {
      copyStore(before, work)
    },
    async leftBehind() {
      // To open it is to recover it.
      copyStore(work, seen)
      return snapshot(seen)
    },
    hasBegun: async (sign) => signs[sign](),
    disturbances: [killed],
  }
}

/** How much the write-ahead log holds, also where there is none. */
export function logSize(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

function snapshot(path: string): Snapshot {
  return {
    address: `sqlite:${path}`,
    tables: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    async ask(sql) {
      const rows: Row[] = ask(path, sql)
      for (const row of rows) {
        for (const [name, value] of Object.entries(row)) {
          if (value instanceof Uint8Array) row[name] = hex(value)
        }
      }
      return rows
    },
    keyOf: (trackerId, subjectId) => hex(subjectKey(trackerId, subjectId)),
    rules: [
      ['the file is intact', "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'"],
      ['nothing refers to what is not there', 'SELECT * FROM pragma_foreign_key_check'],
    ],
  }
}

/** Puts a copy of a store that no process has open in the place of another, just as it lies there, its log included. */
function copyStore(from: string, to: string): void {
  for (const suffix of ['', '-wal', '-shm', '-upkeep']) rmSync(to + suffix, { force: true })
  for (const suffix of ['', '-wal']) {
    if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix, constants.COPYFILE_FICLONE)
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

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
      work: snapshotOf(postgres, work),
      async keep() {
        await copyDatabase(postgres, before, work)
        return snapshotOf(postgres, before)
      },
      restore: () => copyDatabase(postgres, work, before),
      async leftBehind() {
        // PostgreSQL may not be done with what a dead process had asked for.
        await until(async () => (await countConnections(postgres, work)) === 0)
        return snapshotOf(postgres, work)
      },
      // A process begins to work when it connects.
      hasBegun: async () => (await countConnections(postgres, work)) > 0,
      disturbances: [killed, restartUnder],
    }
  }
}

function snapshotOf(server: PostgresServer, database: string): Snapshot {
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
