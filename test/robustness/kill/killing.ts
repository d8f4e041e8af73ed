import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { RunningProgram } from '../../support/command-line.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import type { Disturbance, KillableStore, Sign } from './killable-store.ts'

/** How much of its work a process had completed when it was killed. */
type Progress = 'nothing' | 'part' | 'all'

/** The result of one kill. */
interface Hit {
  /** Whether the process was still running. */
  wasInTime: boolean
  /** How long it had worked. */
  ranMs: number
}

/** How often to kill, and the approximate number of rows for each kind of work. */
export interface Plan {
  kills: number
  rows: number
  /** The minimum number of kills that must be in time. */
  minInTime?: number
}

export function progress(count: number, { before, after }: { before: number; after: number }): Progress {
  if (count === before) return 'nothing'
  return count === after ? 'all' : 'part'
}

/** Counts kills and their results. */
export class Tally {
  readonly hits: (Hit & { done: Progress })[] = []

  get kills(): number {
    return this.hits.length
  }

  get inTime(): number {
    return this.hits.filter(({ wasInTime }) => wasInTime).length
  }

  toString(): string {
    const done = (progress: Progress) =>
      this.hits.filter((hit) => hit.wasInTime && hit.done === progress).length
    return `${this.kills} kills, ${this.inTime} in time (nothing done: ${done('nothing')}, part: ${done('part')}, all: ${done('all')})`
  }
}

/** The number of attempts if a kill comes too late on a busy machine, each earlier than the previous one. */
const maxTries = 4

interface Rounds<Left extends Hit> {
  random: SeededRandom
  kills: number
  /** How long the work takes without interruption. */
  durationMs: number
  /** The tally of all kinds of work. */
  total: Tally
  /** Starts the work again and kills it after this time. */
  kill(afterMs: number): Promise<Left>
  /** Checks what the kill left behind, and completes the work. */
  check(left: Left): Promise<Progress>
}

/** Kills repeatedly, at random times spread evenly over the duration of the work. Returns the tally. */
export async function killAgainAndAgain<Left extends Hit>(
  t: { diagnostic(message: string): void },
  { random, kills, durationMs, total, kill, check }: Rounds<Left>,
): Promise<Tally> {
  const startedAt = performance.now()
  const tally = new Tally()
  let expectedMs = durationMs
  const rounds = random.shuffle(Array.from({ length: kills }, (_, round) => round))
  for (const round of rounds) {
    let afterMs = ((round + random.integer(1_000) / 1_000) / kills) * expectedMs
    try {
      let left = await kill(afterMs)
      for (let tries = 1; tries < maxTries && !left.wasInTime; tries++) {
        afterMs = Math.min(afterMs, left.ranMs) / 2
        left = await kill(afterMs)
      }
      const hit = { ...left, done: await check(left) }
      tally.hits.push(hit)
      total.hits.push(hit)
      // On a busy machine, the work is faster or slower than measured.
      if (!hit.wasInTime) expectedMs = hit.ranMs
      else if (hit.done !== 'all' && afterMs > 0.9 * expectedMs) expectedMs *= 1.2
    } catch (error) {
      const moment = `${Math.round(afterMs)} of ${Math.round(expectedMs)} ms`
      throw new Error(`killed after ${moment}, LETHE_TEST_SEED=${random.seed}`, { cause: error })
    }
  }
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  t.diagnostic(
    `LETHE_TEST_SEED=${random.seed}: ${tally}; undisturbed the work takes ${Math.round(durationMs)} ms; all rounds took ${seconds} s`,
  )
  return tally
}

/** A command to kill, and the sign that it has started its work. */
interface Victim {
  args: readonly string[]
  env?: Record<string, string>
  begins: Sign
}

/** Runs a command in this process. Returns the time, which is about that of a separate process. */
export async function complete(store: KillableStore, { args, env }: Victim): Promise<number> {
  const startedAt = performance.now()
  const { code, stderr } = await store.cli.run(args, env && { env })
  assert.equal(code, 0, stderr)
  return performance.now() - startedAt
}

/** Runs a command as a process. Returns how long it worked. */
export async function measure(store: KillableStore, victim: Victim): Promise<number> {
  const { program, begun } = await begin(store, victim)
  const { code, stderr } = await program.ended
  assert.equal(code, 0, stderr)
  return performance.now() - begun
}

/**
 * Runs a command as a process on the restored store, and interrupts it this long after it started its work.
 */
export async function killDuring(
  store: KillableStore,
  victim: Victim,
  afterMs: number,
  disturb: Disturbance = killProgram,
): Promise<Hit> {
  await store.restore()
  const { program, begun } = await begin(store, victim)
  const ranMs = program.ended.then(() => performance.now() - begun)
  await delay(afterMs)
  return { wasInTime: await disturb(program), ranMs: await ranMs }
}

/** Kills a program and waits for its end. Returns whether it was still running; fails if it had failed. */
export async function killProgram(program: RunningProgram): Promise<boolean> {
  program.kill('SIGKILL')
  const { code, signal, stderr } = await program.ended
  assert.ok(signal === 'SIGKILL' || code === 0, `it failed by itself: ${stderr}`)
  return signal === 'SIGKILL'
}

async function begin(store: KillableStore, { args, env, begins }: Victim) {
  const program = store.cli.startProgram(args, env)
  let isOver = false
  program.ended.then(() => {
    isOver = true
  })
  while (!isOver && !(await store.hasBegun(begins))) await delay(1)
  return { program, begun: performance.now() }
}
