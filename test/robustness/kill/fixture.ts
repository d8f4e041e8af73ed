import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type CommandLine, commandLine } from '../../support/command-line.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** What it takes to kill a process and to look at what it left behind. */
export interface KillFixture {
  random: SeededRandom
  /** Its store is the one on which processes die. */
  cli: CommandLine
  /** For files that are not the store's. */
  folder: string
  /** The store as the work finds it. */
  before: string
  /** The store as the work leaves it when nobody disturbs it. */
  after: string
  /** A copy of the store as a kill left it: looking at it must not tidy up before the next process comes. */
  seen: string
}

export function killFixture(t: TestContext): KillFixture {
  const folder = temporaryFolder(t)
  return {
    random: seededRandom(),
    cli: commandLine(t),
    folder,
    before: join(folder, 'before.db'),
    after: join(folder, 'after.db'),
    seen: join(folder, 'seen.db'),
  }
}
