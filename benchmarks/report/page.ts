import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { goalTable } from './goals.ts'
import { showNumber } from './labels.ts'
import { type PartResult, type Results, readResults } from './results.ts'
import { type Section, sections } from './sections.ts'
import { partTables, table } from './tables.ts'

/** Makes the results page and its charts anew from the results in the folder. */
export function writePage(folder: string): void {
  const charts = join(folder, 'benchmarks')
  // An earlier run may have drawn more of them.
  for (const file of readdirSync(charts).filter((each) => each.endsWith('.svg'))) rmSync(join(charts, file))
  for (const [path, text] of Object.entries(makePage(readResults(folder)))) {
    writeFileSync(join(folder, path), text)
  }
}

/** The page and its charts, by their paths. */
export function makePage(results: Results): Record<string, string> {
  const measured = sections.flatMap((section) => {
    const result = results[section.part]
    return result ? [{ section, result }] : []
  })
  const charts = measured.flatMap(({ section, result }) => section.charts(result))
  const page = [
    head,
    `## Goals\n\n${goalTable(results)}`,
    `## Where and when\n\n${machineTables(measured.map(({ result }) => result))}\n${partTable(measured)}\n${loadBefore}`,
    ...measured.map(({ section, result }) => partSection(section, result)),
  ].join('\n')
  return {
    'benchmarks.md': page,
    ...Object.fromEntries(charts.map(({ file, svg }) => [`benchmarks/${file}`, svg])),
  }
}

const head = `# Benchmarks

Lethe beside the limit: what the machine does when nothing but the bare work is asked of it. \`npm run bench\` measures all of
it on your machine and writes this page; \`npm run bench:quick\` gives a first idea within a minute. Rounds are interleaved, so
that what else the machine does meets both sides; figures are medians, with the lowest and the highest round in brackets.
Every round is in [the results](benchmarks/results.json). Ratios travel to other machines better than figures do.
`

const loadBefore = `Load before is the system's load average when the run began. It is near zero on a quiet machine; where it is not, others
took part in what was measured.
`

function machineTables(results: readonly PartResult[]): string {
  const machines = Map.groupBy(results, ({ machine }) => JSON.stringify(machine))
  return [...machines.values()].map(machineTable).join('\n')
}

function machineTable(results: readonly PartResult[]): string {
  const [first] = results
  if (!first) return ''
  const versions = Object.assign(
    {},
    ...results.flatMap(({ groups }) => groups.map((group) => group.versions)),
  )
  const { processor, cores, memoryGigabytes, system, node, sqlite } = first.machine
  return table(
    ['', ''],
    [
      ['processor', processor],
      ['cores', String(cores)],
      ['memory', `${memoryGigabytes} GB`],
      ['system', system],
      ['Node', node],
      ['SQLite', sqlite],
      ...Object.entries<string>(versions),
    ],
    () => false,
  )
}

function partTable(measured: readonly { section: Section; result: PartResult }[]): string {
  const rows = measured.map(({ section, result }) => [
    section.title,
    result.measuredAt.slice(0, 16).replace('T', ' '),
    result.commit,
    result.load,
    showNumber(result.loadBefore, 1),
    `${result.tookSeconds} s`,
  ])
  return table(['part', 'measured (UTC)', 'commit', 'requests by', 'load before', 'took'], rows, () => false)
}

function partSection(section: Section, result: PartResult): string {
  const charts = section.charts(result).map(({ file, title }) => `![${title}](benchmarks/${file})\n\n`)
  const again = `Measure it again: \`npm run bench -- --only ${section.part}\`.`
  return `## ${section.title}\n\n${section.text}\n${again}\n\n${charts.join('')}${partTables(result)}\nSizes: ${describeSize(result.size)}.\n`
}

/** How much was done, as it would be given on the command line. */
function describeSize(size: unknown): string {
  return Object.entries(Object(size))
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : value}`)
    .join('; ')
}
