import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PartName } from '../sizes.ts'
import type { Machine } from './machine.ts'

/** What was measured of one thing: figures by name, each with what every round gave. */
export interface Row {
  name: string
  figures: Record<string, number[]>
}

/** Rows that are to be read beside each other. */
export interface Group {
  name: string
  rows: Row[]
  /** What a reader must know to read them. */
  notes?: string[]
  /** Servers that took part, and which version of each. */
  versions?: Record<string, string>
}

/** All that a part found, when, where, and how much it did. */
export interface PartResult {
  measuredAt: string
  commit: string
  /** How many processes wanted a processor before the run began: of a quiet machine hardly any. */
  loadBefore: number
  tookSeconds: number
  load: string
  machine: Machine
  size: unknown
  groups: Group[]
}

export type Results = Partial<Record<PartName, PartResult>>

/** Where results are kept, below the folder of the page. */
const file = 'benchmarks/results.json'

/** What was measured last of each part; nothing of a part that never was. */
export function readResults(folder: string): Results {
  const path = join(folder, file)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}

export function writeResults(folder: string, results: Results): void {
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${printResults(results)}\n`)
}

/** As JSON that a person can read and compare: the rounds of a figure share a line, with four digits that say something. */
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
