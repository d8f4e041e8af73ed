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
import { killProgram } from './killing.ts'

/** A rule for a store, and a query for its violations. */
export type Rule = readonly [rule: string, exceptions: string]

/** A store that executes SQL common to both engines. */
export interface Queryable {
  /** Returns bytes as hexadecimal digits. */
  ask(sql: string): Promise<Row[]>
  /** The key of a subject, as its rows show it. */
  keyOf(trackerId: string, subjectId: string): string
  /** Rules that only this engine can check. */
  rules: readonly Rule[]
}

/** A store that no process writes to. */
export interface Snapshot extends Queryable {
  address: string
  /** A query for the names of all tables. */
  tables: string
}

/** A visible sign that a process works on a store that was closed before. */
export type Sign = 'opening' | 'maintenance' | 'writing'

/**
 * Interrupts a running program and waits until it has ended. Returns whether the program was still running.
 */
export type Disturbance = (program: RunningProgram) => Promise<boolean>

/** A store for processes that are killed, and the means to check it afterwards. */
export interface KillableStore {
  /** The commands that work on it. */
  cli: CommandLine
  /** The store itself. Reading it may recover it. */
  work: Snapshot
  /** Saves a copy of the store. */
  keep(): Promise<Snapshot>
  /** Replaces the store with that copy. */
  restore(): Promise<void>
  /** A copy of the store as killed processes left it. Reading the copy does not recover the store. */
  leftBehind(): Promise<Snapshot>
  hasBegun(sign: Sign): Promise<boolean>
  /** Every way to interrupt a process. */
  disturbances: readonly Disturbance[]
}

/** Creates an empty store, removed when the test ends. */
export type MakeKillable = (t: TestContext, random: SeededRandom) => Promise<KillableStore>

/** An embedded store for processes that are killed. */
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
      // Opening a store recovers it.
      copyStore(work, seen)
      return snapshot(seen)
    },
    hasBegun: async (sign) => signs[sign](),
    disturbances: [killProgram],
  }
}

/** The size of the write-ahead log; 0 if there is none. */
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

/** Copies the files of a store that no process has open, including its log. */
function copyStore(from: string, to: string): void {
  for (const suffix of ['', '-wal', '-shm', '-upkeep']) rmSync(to + suffix, { force: true })
  for (const suffix of ['', '-wal']) {
    if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix, constants.COPYFILE_FICLONE)
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** Databases for processes that are killed, on a server that is also killed. */
export function killablePostgres(server: () => PostgresServer): MakeKillable {
  return async (t, random) => {
    const postgres = server()
    const [work, before] = [`work-${randomUUID()}`, `before-${randomUUID()}`]
    const cli = commandLine(t, databaseUrl(postgres, work))
    await copyDatabase(postgres, work)

    /** Restarts the server. Returns whether the program failed, which must print no password. */
    const restartServer: Disturbance = async (program) => {
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
        // PostgreSQL may still execute the queries of a killed process.
        await until(async () => (await countConnections(postgres, work)) === 0)
        return snapshotOf(postgres, work)
      },
      // A process starts its work when it connects.
      hasBegun: async () => (await countConnections(postgres, work)) > 0,
      disturbances: [killProgram, restartServer],
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

/** Replaces an unused database with a copy of another one, by default an empty one. */
async function copyDatabase(server: PostgresServer, to: string, from = 'template0'): Promise<void> {
  await withDatabase(server.url, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(to)} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${escapeIdentifier(to)} TEMPLATE ${escapeIdentifier(from)}`)
  })
}

/** The number of connections to a database. */
function countConnections(server: PostgresServer, database: string): Promise<number> {
  return withDatabase(server.url, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_stat_activity WHERE datname = $1', [database])
    return rowCount ?? 0
  })
}
