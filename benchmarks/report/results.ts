import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PartName } from '../sizes.ts'
import type { Machine } from './machine.ts'

/** A measurement: named values, each for all rounds. */
export interface Row {
  name: string
  figures: Record<string, number[]>
}

/** Rows to be compared with each other. */
export interface Group {
  name: string
  rows: Row[]
  /** Notes on how to interpret them. */
  notes?: string[]
  /** The versions of other servers that were used. */
  versions?: Record<string, string>
}

/** The results of a part, with the time, the machine and the size of the measurement. */
export interface PartResult {
  measuredAt: string
  commit: string
  /** The load average when the run began: near zero on an idle machine. */
  loadBefore: number
  tookSeconds: number
  load: string
  machine: Machine
  size: unknown
  groups: Group[]
}

export type Results = Partial<Record<PartName, PartResult>>

/** Collects values round by round, with rows in the order in which they first appeared. */
export class Figures {
  readonly #rows = new Map<string, Record<string, number[]>>()

  /** Adds the values of a round, except unknown ones. */
  add(name: string, round: Record<string, number | null>): void {
    const figures = this.#rows.get(name) ?? {}
    this.#rows.set(name, figures)
    for (const [figure, value] of Object.entries(round)) {
      if (value === null) continue
      const values = figures[figure] ?? []
      figures[figure] = values
      values.push(value)
    }
  }

  rows(): Row[] {
    return [...this.#rows].map(([name, figures]) => ({ name, figures }))
  }
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [below, above] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return below === undefined || above === undefined ? Number.NaN : (below + above) / 2
}

/** The value below which this share of all values lies. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}

/** The path of the results, relative to the folder of the page. */
const file = 'benchmarks/results.json'

/** The latest results of each part that was measured. */
export function readResults(folder: string): Results {
  const path = join(folder, file)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}

export function writeResults(folder: string, results: Results): void {
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${printResults(results)}\n`)
}

/** Readable and comparable JSON: the rounds of a value are on one line, with four significant digits. */
export function printResults(results: Results): string {
  const text = JSON.stringify(results, (_, value) => (typeof value === 'number' ? rounded(value) : value), 2)
  return text.replace(
    /\[\s+([-\d.e+,\s]+?)\s+\]/g,
    (_, numbers: string) => `[${numbers.replace(/\s+/g, ' ')}]`,
  )
}

function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(4))
}
