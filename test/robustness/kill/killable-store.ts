import type { TestContext } from 'node:test'
import type { Row } from '../../../src/storage/nouns/row.ts'
import type { CommandLine, RunningProgram } from '../../support/command-line.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'

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
