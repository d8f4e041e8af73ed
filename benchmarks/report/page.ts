import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Goal, goals } from './goals.ts'
import { growthSection } from './growth-tables.ts'
import { show, spread, table } from './markdown-table.ts'
import { median, type PartResult, type Results, type Row, readResults } from './results.ts'

/** Writes the results page from the results in the folder. */
export function writePage(folder: string): void {
  writeFileSync(join(folder, 'benchmarks.md'), makePage(readResults(folder)))
}

export function makePage(results: Results): string {
  return `# Benchmarks

\`npm run bench\` measures Lethe on your machine and writes this page; \`npm run bench:quick\` takes about a minute. Each measurement is
compared with a baseline that does the same work with nothing around it, in interleaved rounds, so that other load on the machine affects
both. Figures are medians, with the lowest and the highest round in brackets. Ratios are more portable than absolute figures.

${resultTable(results)}
${obstacles(results)}${growthSection(results)}[results.json](benchmarks/results.json) contains every round of these and of all other measurements.
[CONTRIBUTING.md](../CONTRIBUTING.md#benchmarks) describes the parts and how to run them.

${provenance(results)}`
}

/** One row for each goal: the result, its baseline, and whether the goal was reached. */
export function resultTable(results: Results, rows: readonly Goal[] = goals): string {
  const cells = rows.map((goal) => [goal.what, ...Object.values(judge(goal, results))])
  return table(['', 'result', 'compared with', 'ratio', 'goal', ''], cells)
}

/** The known reasons for the goals that were missed. */
function obstacles(results: Results): string {
  const missed = goals.filter((goal) => goal.obstacle && judge(goal, results).verdict === notReached)
  const byObstacle = Map.groupBy(missed, ({ obstacle }) => obstacle)
  if (byObstacle.size === 0) return ''
  const lines = [...byObstacle].map(([obstacle, [first]]) => `- **${first?.what}**: ${obstacle}\n`)
  return `What keeps the others from their goals:\n\n${lines.join('')}\n`
}

interface Judgement {
  result: string
  comparedWith: string
  ratio: string
  goal: string
  verdict: string
}

function judge(goal: Goal, results: Results): Judgement {
  const row = findRow(goal, goal.row, results)
  const value = row?.figures[goal.figure]
  const result = value ? `${spread(value, goal.digits)} ${goal.unit}` : ''
  const { ratio: bound, atMost } = goal
  const comparedWith = goal.comparedWith ?? ''
  if (atMost !== undefined) {
    const verdict = value ? verdictOf(median(value) <= atMost) : 'not measured'
    return {
      result,
      comparedWith,
      ratio: '',
      goal: `at most ${atMost.toLocaleString('en')} ${goal.unit}`,
      verdict,
    }
  }
  const ratios = row && ratiosOf(goal, row, results)
  const verdict = ratios ? verdictOf(median(ratios) >= bound) : 'not measured'
  return {
    result,
    comparedWith,
    ratio: ratios ? spread(ratios, 2) : '',
    goal: `at least ${show(bound, 2)}`,
    verdict,
  }
}

/** The ratio of each round: as measured, or relative to the ratio of the baseline in the same round. */
function ratiosOf(goal: Goal, row: Row, results: Results): number[] | undefined {
  const ratios = row.figures[goal.ratioFigure ?? 'ratio']
  if (goal.baselineRow === undefined) return ratios
  const baseline = findRow(goal, goal.baselineRow, results)?.figures.ratio
  return baseline && ratios?.map((ratio, round) => ratio / (baseline[round] ?? Number.NaN))
}

function findRow({ part, group }: Goal, name: string, results: Results): Row | undefined {
  const rows = results[part]?.groups.find((each) => each.name === group)?.rows
  return name === 'last' ? rows?.at(-1) : rows?.find((row) => row.name === name)
}

const notReached = '**not reached**'

function verdictOf(isReached: boolean): string {
  return isReached ? 'reached' : notReached
}

/** When, where and on which commit each part was measured; one sentence if all parts agree. */
function provenance(results: Results): string {
  const groups = Map.groupBy(Object.entries(results), ([, { machine, commit, load }]) =>
    JSON.stringify([machine, commit, load]),
  )
  return [...groups.values()].map((same) => `${describe(Object.fromEntries(same))}\n`).join('\n')
}

function describe(same: Record<string, PartResult>): string {
  const results = Object.values(same)
  const [first] = results
  if (!first) return ''
  const { machine, commit, load } = first
  const versions = Object.assign(
    {},
    ...results.flatMap(({ groups }) => groups.map((group) => group.versions)),
  )
  const software = [
    `Node ${machine.node}`,
    `SQLite ${machine.sqlite}`,
    ...Object.entries<string>(versions).map(([name, version]) => `${name} ${version}`),
  ]
  const days = results.map(({ measuredAt }) => measuredAt.slice(0, 10)).sort()
  const busiest = Math.max(...results.map(({ loadBefore }) => loadBefore))
  return `Measured at commit ${commit} on ${[...new Set(days)].join(' and ')} (${Object.keys(same).join(', ')}): ${machine.processor}, ${machine.cores}
cores, ${machine.memoryGigabytes} GB, ${machine.system}, ${software.join(', ')}; load from ${load}. The highest load average before a part was ${show(busiest, 1)}.`
}
