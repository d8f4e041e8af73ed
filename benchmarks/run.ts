// Measures Lethe and writes the results page. `npm run bench -- --help` lists the options.
import { loadavg } from 'node:os'
import { Lifetime } from './lifetime.ts'
import { type LoadGenerator, loadGenerator } from './load/load.ts'
import { type Options, readOptions, usage } from './options.ts'
import { parts } from './parts/index.ts'
import { goals } from './report/goals.ts'
import { describeCommit, describeMachine } from './report/machine.ts'
import { resultTable, writePage } from './report/page.ts'
import { type PartResult, printResults, type Results, readResults, writeResults } from './report/results.ts'
import type { PartName } from './sizes.ts'

async function measure<Name extends PartName>(
  name: Name,
  { sizes }: Options,
  load: LoadGenerator,
  before: Pick<PartResult, 'commit' | 'loadBefore'>,
): Promise<PartResult> {
  const from = performance.now()
  const lifetime = new Lifetime()
  const tell = (line: string) => console.error(`${name}: ${line}`)
  try {
    const groups = await parts[name]({ size: sizes[name], load, lifetime, tell })
    const tookSeconds = Math.round((performance.now() - from) / 1_000)
    return {
      measuredAt: new Date().toISOString(),
      ...before,
      tookSeconds,
      load: load.name,
      machine: describeMachine(),
      size: sizes[name],
      groups,
    }
  } finally {
    await lifetime.end()
  }
}

async function run(options: Options): Promise<void> {
  const load = loadGenerator(options.load)
  const before = { commit: describeCommit(), loadBefore: loadavg()[0] ?? 0 }
  const measured: Results = {}
  for (const name of options.parts) {
    const result = await measure(name, options, load, before)
    measured[name] = result
    // Written after each part, so that a later failure loses nothing.
    if (options.out !== null) writeResults(options.out, { ...readResults(options.out), [name]: result })
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
  console.error(error)
  process.exitCode = 1
}
