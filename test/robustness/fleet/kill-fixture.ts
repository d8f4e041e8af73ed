import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type CommandLine, commandLine, type RunningProgram } from '../../support/command-line.ts'
import type { PostgresServer } from '../../support/postgres.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import type { Hit } from '../kill/killing.ts'
import { countConnections, databaseUrl } from './databases.ts'

interface Databases {
  /** On which processes die. */
  work: string
  /** The same as they find it. */
  before: string
}

/** What it takes to kill a process at work on PostgreSQL and to look at what it left behind. */
export interface KillFixture {
  random: SeededRandom
  postgres: PostgresServer
  /** Its store is `work`. */
  cli: CommandLine
  names: Databases
  urls: Databases
}

export function killFixture(t: TestContext, postgres: PostgresServer, name: string): KillFixture {
  const names = { work: `${name}-work`, before: `${name}-before` }
  const urls = { work: databaseUrl(postgres, names.work), before: databaseUrl(postgres, names.before) }
  return { random: seededRandom(), postgres, cli: commandLine(t, urls.work), names, urls }
}

export interface Victim {
  args: readonly string[]
  env?: Record<string, string>
}

/** Lets a command run to its end in a process of its own. How long it was at work. */
export async function measure(fixture: KillFixture, victim: Victim): Promise<number> {
  const { program, begun } = await begin(fixture, victim)
  const { code, stderr } = await program.ended
  assert.equal(code, 0, stderr)
  return performance.now() - begun
}

/** Runs a command in a process of its own and disturbs it so long after it began to work. */
export async function disturb(
  fixture: KillFixture,
  victim: Victim,
  afterMs: number,
  disturbance: (program: RunningProgram) => Promise<boolean>,
): Promise<Pick<Hit, 'wasInTime' | 'ranMs'>> {
  const { program, begun } = await begin(fixture, victim)
  const ranMs = program.ended.then(() => performance.now() - begun)
  await delay(afterMs)
  return { wasInTime: await disturbance(program), ranMs: await ranMs }
}

/** A process begins to work when it connects. */
async function begin({ cli, postgres, names }: KillFixture, { args, env }: Victim) {
  const program = cli.startProgram(args, env)
  let isOver = false
  program.ended.then(() => {
    isOver = true
  })
  while (!isOver && (await countConnections(postgres, names.work)) === 0) await delay(5)
  return { program, begun: performance.now() }
}
