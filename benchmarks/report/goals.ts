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
  minimum?: number
  maximum?: number
  /** What could be measured in its place, which does only what cannot be left out: its name, and where it is found. */
  baseline?: { name: string; group: string; row: string }
  /** What stands in the way, and how that is known; told where the goal is not reached. */
  limit?: string
}

const http = { part: 'http', figure: 'ratio' } as const
const sqlite = { ...http, group: 'SQLite' }
const baselineIn = (group: string, name: string) => ({ name, group, row: name })
const refusal = {
  baseline: baselineIn('SQLite', 'baseline 401'),
  limit:
    'That is Node’s own server which does nothing but what a refusal must: it takes or makes the request’s id, counts the address behind the proxy, sends nine headers, each of which Node checks, where bare Fastify sends two, and writes a line to the log when the answer is out. Asked in memory, without a network, bare Fastify took 4.9 µs of CPU for its answer, the baseline 401 8.6 and Lethe’s 9.1; of these the headers are 1.2, the line and the notice that the answer is out 1.3, the body’s JSON 0.5.',
}

const goals: Goal[] = [
  {
    ...sqlite,
    what: 'read on SQLite, of bare Fastify',
    row: 'read',
    minimum: 0.8,
    baseline: baselineIn('SQLite', 'baseline read'),
    limit:
      'That is Fastify which asks the store for the same rows and does nothing else; Lethe keeps up with it because requests are read in batches. A subject and its newest session are three places in the file. In a loop SQLite finds them in 3.4 µs; between requests they are in no cache of the processor. In turns of a second the least CPU of a read was 36 µs, without its session 29, without SQLite 23, and 13 for bare Fastify. To keep the newest session beside its subject would save those 7 µs, and cost every import and every page.',
  },
  {
    ...sqlite,
    what: 'page of 50 on SQLite, of bare Fastify',
    row: 'page of 50',
    minimum: 0.6,
    baseline: baselineIn('SQLite', 'baseline page of 50'),
    limit:
      'node:sqlite takes 31 µs in a loop to hand over the 51 rows, 13 µs of it SQLite itself, when it hands them over as lists of values; as objects it took 43, as one text of JSON 40. To write their hundred instants and the JSON takes 22 more.',
  },
  { ...sqlite, what: '401, of bare Fastify', row: '401', minimum: 0.85, ...refusal },
  {
    ...sqlite,
    what: '429 by address, of bare Fastify',
    row: '429 by address',
    minimum: 0.85,
    ...refusal,
  },
  { ...sqlite, what: '429 by key, of bare Fastify', row: '429 by key', minimum: 0.85, ...refusal },
  {
    ...http,
    what: 'read on PostgreSQL with Redis, of bare Fastify',
    group: 'PostgreSQL with Redis',
    row: 'read',
    minimum: 0.35,
    baseline: baselineIn('PostgreSQL with Redis', 'baseline read'),
    limit:
      'A read asks Redis twice and PostgreSQL twice, one after the other; a batch of sixteen shares each question. PostgreSQL, Redis and the load generator take their part of the same two cores, which bare Fastify has to itself.',
  },
  {
    what: 'erase of 100,000 events, of the speed of a bare DELETE',
    part: 'erase',
    group: 'erasures',
    row: '100,000 events',
    figure: 'ratio',
    minimum: 0.85,
    limit:
      'An erasure is answered when the write-ahead log has been emptied, which a bare DELETE leaves undone; beside a DELETE that does the same it is the last column.',
  },
  {
    what: 'import, of plain batched inserts',
    part: 'import',
    group: 'lines by time',
    row: 'lethe import',
    figure: 'ratio',
    minimum: 0.6,
  },
  {
    what: 'read at 10,000,000 events, of its speed at 10,000',
    part: 'growth',
    group: 'read',
    row: '10,000,000 events',
    figure: 'ratio',
    minimum: 0.8,
    baseline: { name: 'baseline read', group: 'baseline read', row: '10,000,000 events' },
    limit:
      'That is Fastify which asks the store for the same rows and does nothing else. The small store lies in the caches of the processor, the large one in memory: what a read looks at is as little, but further away.',
  },
  {
    what: 'first answer after the start, ms',
    part: 'start',
    group: 'first answer',
    row: 'lethe serve',
    figure: 'startMs',
    maximum: 400,
  },
  { what: 'idle memory, MB', part: 'start', group: 'memory', row: 'idle', figure: 'megabytes', maximum: 100 },
]

/** Which goals were reached, as Markdown. */
export function goalTable(results: Results): string {
  const judged = goals.map((goal) => ({ goal, ...judge(goal, results) }))
  const rows = judged.map(({ goal: { what, minimum, maximum }, measured, verdict }) => {
    const bound = minimum === undefined ? `at most ${maximum}` : `at least ${showNumber(minimum, 2)}`
    return [what, bound, measured, verdict]
  })
  const missedOnes = judged.flatMap(({ goal, verdict }) => (goal.limit && verdict === missed ? [goal] : []))
  const byLimit = Map.groupBy(missedOnes, (goal) => `${floorOf(goal, results)}${goal.limit}`)
  const limits = Array.from(
    byLimit,
    ([limit, same]) => `- ${same.map(({ what }) => what).join('; ')}: ${limit}\n`,
  )
  return (
    table(['', 'goal', 'measured', ''], rows, () => false) + (limits.length > 0 ? `\n${limits.join('')}` : '')
  )
}

const missed = '**not reached**'

function judge(goal: Goal, results: Results): { measured: string; verdict: string } {
  const { figure, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = goal
  const rounds = roundsOf(goal, goal, results)
  if (!rounds) return { measured: '', verdict: 'not measured' }
  const isReached = median(rounds) >= minimum && median(rounds) <= maximum
  return { measured: showFigure(figure, rounds), verdict: isReached ? 'reached' : missed }
}

function roundsOf(
  { part, figure }: Goal,
  { group, row }: { group: string; row: string },
  results: Results,
): number[] | undefined {
  const rows = results[part]?.groups.find(({ name }) => name === group)?.rows
  return rows?.find(({ name }) => name === row)?.figures[figure]
}

/** What the baseline in its place reached, in the same run. */
function floorOf(goal: Goal, results: Results): string {
  const rounds = goal.baseline === undefined ? undefined : roundsOf(goal, goal.baseline, results)
  return rounds
    ? `the ${goal.baseline?.name} reached ${showFigure(goal.figure, rounds)} in the same run. `
    : ''
}
