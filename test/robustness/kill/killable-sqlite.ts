import { constants, copyFileSync, existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { subjectKey } from '../../../src/domain/subject.ts'
import type { Row } from '../../../src/storage/nouns/row.ts'
import { ask } from '../../storage/sqlite/database-file.ts'
import { commandLine } from '../../support/command-line.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { testSecretFile } from '../../support/test-keyring.ts'
import type { KillableStore, Sign, Snapshot } from './killable-store.ts'
import { killed } from './killing.ts'

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
