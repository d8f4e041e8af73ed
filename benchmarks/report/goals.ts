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
const refusalLimit =
  'A public page, which goes the same way without a budget, was as quick as bare Fastify. A budget, an exception and the header of a proxy take 1 to 3 µs each in a profile; what the rest is, is not known yet.'

const goals: Goal[] = [
  {
    ...sqlite,
    what: 'read on SQLite, of bare Fastify',
    row: 'read',
    least: 0.8,
    limit:
      'Without sockets, Lethe’s own part of a read takes 11 µs of CPU when sixteen come together and 17 µs when it comes alone; the goal leaves about 4. In a profile 40 % of that is SQLite, which finds a subject and its newest session in 3 to 5 µs, 15 % garbage, 12 % JSON and 9 % the log.',
  },
  {
    ...sqlite,
    what: 'page of 50 on SQLite, of bare Fastify',
    row: 'page of 50',
    least: 0.6,
    limit:
      'node:sqlite takes 44 µs to hand over the 51 rows, 14 µs of it SQLite itself and the rest a tenth of a microsecond for each value; a whole answer of bare Fastify takes less. Rows as arrays, an iterator, or one JSON text made by SQLite took 41 to 59 µs. A goal of 0.6 needs rows that are stored as they are answered.',
  },
  { ...sqlite, what: '401, of bare Fastify', row: '401', least: 0.85, limit: refusalLimit },
  {
    ...sqlite,
    what: '429 by address, of bare Fastify',
    row: '429 by address',
    least: 0.85,
    limit: refusalLimit,
  },
  { ...sqlite, what: '429 by key, of bare Fastify', row: '429 by key', least: 0.85, limit: refusalLimit },
  {
    ...http,
    what: 'read on PostgreSQL with Redis, of bare Fastify',
    group: 'PostgreSQL with Redis',
    row: 'read',
    least: 0.35,
    limit:
      'A read asks Redis twice, at 4 to 6 µs of this process’s CPU each, and PostgreSQL for the key and the subject; both servers and the load generator share its two cores. What the driver of PostgreSQL takes was not taken apart yet.',
  },
  {
    what: 'erase of 100,000 events, of the speed of a bare DELETE',
    part: 'erase',
    group: 'erasures',
    row: '100,000 events',
    figure: 'ratio',
    least: 0.85,
    limit:
      'An erasure is answered when the write-ahead log has been emptied, which a bare DELETE leaves undone; beside a DELETE that does the same it is the last column. Of 1,000,000 events it is quicker than both.',
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
