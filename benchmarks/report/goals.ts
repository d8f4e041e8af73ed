import type { PartName } from '../sizes.ts'
import { showFigure, showNumber } from './labels.ts'
import type { Results } from './results.ts'
import { median } from './statistics.ts'
import { table } from './tables.ts'

/** Something we want to reach, and where in the results it is found. */
interface Goal {
  what: string
  part: PartName
  group: string
  row: string
  figure: string
  least?: number
  most?: number
  /** What stands in the way, and how that is known; told where the goal is not reached. */
  limit?: string
}

const http = { part: 'http', figure: 'ratio' } as const
const sqlite = { ...http, group: 'SQLite' }

const goals: Goal[] = [
  { ...sqlite, what: 'read on SQLite, of bare Fastify', row: 'read', least: 0.8 },
  { ...sqlite, what: 'page of 50 on SQLite, of bare Fastify', row: 'page of 50', least: 0.6 },
  { ...sqlite, what: '401, of bare Fastify', row: '401', least: 0.85 },
  { ...sqlite, what: '429 by address, of bare Fastify', row: '429 by address', least: 0.85 },
  { ...sqlite, what: '429 by key, of bare Fastify', row: '429 by key', least: 0.85 },
  {
    ...http,
    what: 'read on PostgreSQL with Redis, of bare Fastify',
    group: 'PostgreSQL with Redis',
    row: 'read',
    least: 0.35,
  },
  {
    what: 'erase of 100,000 events, of the speed of a bare DELETE',
    part: 'erase',
    group: 'erasures',
    row: '100,000 events',
    figure: 'ratio',
    least: 0.85,
  },
  {
    what: 'import, of plain batched inserts',
    part: 'import',
    group: 'lines by time',
    row: 'lethe import',
    figure: 'ratio',
    least: 0.6,
  },
  {
    what: 'read at 10,000,000 events, of its speed at 10,000',
    part: 'growth',
    group: 'read',
    row: '10,000,000 events',
    figure: 'ratio',
    least: 0.8,
  },
  {
    what: 'first answer after the start, ms',
    part: 'start',
    group: 'first answer',
    row: 'lethe serve',
    figure: 'startMs',
    most: 400,
  },
  { what: 'idle memory, MB', part: 'start', group: 'memory', row: 'idle', figure: 'megabytes', most: 100 },
]

/** Which goals were reached, as Markdown. */
export function goalTable(results: Results): string {
  const judged = goals.map((goal) => ({ goal, ...judge(goal, results) }))
  const rows = judged.map(({ goal: { what, least, most }, measured, verdict }) => {
    const bound = least === undefined ? `at most ${most}` : `at least ${showNumber(least, 2)}`
    return [what, bound, measured, verdict]
  })
  const limits = judged.flatMap(({ goal: { what, limit }, verdict }) =>
    limit !== undefined && verdict === missed ? [`- ${what}: ${limit}\n`] : [],
  )
  return (
    table(['', 'goal', 'measured', ''], rows, () => false) + (limits.length > 0 ? `\n${limits.join('')}` : '')
  )
}

const missed = '**not reached**'

function judge(goal: Goal, results: Results): { measured: string; verdict: string } {
  const { part, group, row, figure, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = goal
  const rows = results[part]?.groups.find(({ name }) => name === group)?.rows
  const rounds = rows?.find(({ name }) => name === row)?.figures[figure]
  if (!rounds) return { measured: '', verdict: 'not measured' }
  const isReached = median(rounds) >= least && median(rounds) <= most
  return { measured: showFigure(figure, rounds), verdict: isReached ? 'reached' : missed }
}
