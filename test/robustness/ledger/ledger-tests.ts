import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext } from 'node:test'
import { commandLine } from '../../support/command-line.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { testSecretFile } from '../../support/test-keyring.ts'
import { raceErasures } from './erasure-races.ts'
import { type Crowd, eraseByMany } from './many-erasures.ts'

/** What is promised of erasures and their ledger, on each engine, by so many races and such a crowd. */
export function ledgerTests({ races, crowd }: { races: number; crowd: Crowd }): void {
  describe('on SQLite,', () => {
    raceErasures(async (t) => `sqlite:${join(temporaryFolder(t), 'lethe.db')}`, races)
    eraseByMany(async (t) => {
      const cli = commandLine(t)
      copyFileSync(testSecretFile(), join(cli.folder, 'lethe.secret'))
      return { cli, address: `sqlite:${cli.storePath}` }
    }, crowd)
  })
  describe('on PostgreSQL,', () => {
    raceErasures(freshStore, races)
    eraseByMany(async (t: TestContext) => {
      const address = await freshStore(t)
      return { cli: commandLine(t, address), address }
    }, crowd)
  })
}
