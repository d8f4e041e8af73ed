// Measures Lethe and writes the results page. `npm run bench -- --help` lists the options.
import { loadavg } from 'node:os'
import { Lifetime } from './lifetime.ts'
import { type LoadGenerator, loadGenerator } from './load/load.ts'
import { type Options, readOptions, usage } from './options.ts'
import { parts } from './parts/index.ts'
import { goals } from './report/goals.ts'
import { describeCommit, describeMachine } from './report/machine.ts'
import { resultTable, writePage } from './report/page.ts'
import {
  type Group,
  type PartResult,
  printResults,
  type Results,
  readResults,
  writeResults,
} from './report/results.ts'
import type { PartName } from './sizes.ts'
import { UsageError } from './usage-error.ts'

async function measure<Name extends PartName>(
  name: Name,
  { sizes }: Options,
  load: LoadGenerator,
  before: Pick<PartResult, 'commit' | 'loadBefore'>,
  write: (result: PartResult) => void,
): Promise<PartResult> {
  const from = performance.now()
  const lifetime = new Lifetime()
  const tell = (line: string) => console.error(`${name}: ${line}`)
  const resultOf = (groups: Group[]): PartResult => ({
    measuredAt: new Date().toISOString(),
    ...before,
    tookSeconds: Math.round((performance.now() - from) / 1_000),
    load: load.name,
    machine: describeMachine(),
    size: sizes[name],
    groups,
  })
  const keep = (groups: Group[]) => write(resultOf(groups))
  try {
    return resultOf(await parts[name]({ size: sizes[name], load, lifetime, tell, keep }))
  } finally {
    await lifetime.end()
  }
}

/** With the groups of an earlier run that this one did not measure: each store that grows takes hours. */
function withOthers(result: PartResult, before: PartResult | undefined): PartResult {
  const measured = new Set(result.groups.map(({ name }) => name))
  const others = before?.groups.filter(({ name }) => !measured.has(name)) ?? []
  return { ...result, groups: [...result.groups, ...others] }
}

async function run(options: Options): Promise<void> {
  const load = loadGenerator(options.load)
  const before = { commit: describeCommit(), loadBefore: loadavg()[0] ?? 0 }
  const measured: Results = {}
  for (const name of options.parts) {
    // Written after each part, so that a later failure loses nothing.
    const write = (result: PartResult) => {
      measured[name] = result
      if (options.out === null) return
      const before = readResults(options.out)
      const isPartial = name === 'growth'
      writeResults(options.out, { ...before, [name]: isPartial ? withOthers(result, before[name]) : result })
      writePage(options.out)
    }
    write(await measure(name, options, load, before, write))
  }
  if (options.out !== null) writePage(options.out)
  const measuredGoals = goals.filter(({ part }) => measured[part] !== undefined)
  if (options.json) console.log(printResults(measured))
  else if (measuredGoals.length > 0) console.log(resultTable(measured, measuredGoals))
}

process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))
try {
  const options = readOptions(process.argv.slice(2))
  if (options.help) console.log(usage)
  else await run(options)
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error)
  process.exitCode = 1
}
