import type { PartName } from '../sizes.ts'
import { type Bar, type BarChart, drawBars } from './bar-chart.ts'
import { showNumber } from './labels.ts'
import type { Group, PartResult } from './results.ts'
import { at, median } from './statistics.ts'

export interface Chart {
  file: string
  title: string
  svg: string
}

/** What the page says of a part. */
export interface Section {
  part: PartName
  title: string
  text: string
  charts(result: PartResult): Chart[]
}

export const sections: Section[] = [
  {
    part: 'http',
    title: 'HTTP',
    text: `Requests per second over many concurrent connections, each route of Lethe beside a bare Fastify route that answers a fixed body of
the same size and does nothing else. Budgets are out of the way but counted: requests come from a thousand addresses. A
ratio is Lethe's requests per second by those of the bare route just before it in the same round. CPU is what the server's
process worked for a request; its ratio tells the same without the load generator, which shares the machine. Node's own
server stands first, with the body of a read; the 401 is a request without a key. The baseline read and the baseline page are what
such a route costs at least on its store: Fastify that asks for the same rows, and Redis once where it counts, without a key, a
budget, a log or anything else. The baseline 401 is Node's own server that does
what a refusal must, and no more: an id, the count of the address, the headers, a line in the log.`,
    charts: ({ groups }) =>
      groups.map(({ name, rows }) =>
        chart(`http-${slug(name)}`, {
          title: `Beside bare Fastify, on ${name}`,
          series: ['ratio of requests per second', 'ratio of CPU'],
          rows: rows.map(({ name, figures }) => ({
            name,
            bars: [bar(figures.ratio), bar(figures.cpuRatio)],
          })),
          mark: 1,
          show: (value) => showNumber(value, 2),
        }),
      ),
  },
  {
    part: 'growth',
    title: 'Growth',
    text: `The same requests in stores of all sizes, on SQLite. A ratio compares with the smallest store in the same round: where
the bars of a row are equally long, what is stored does not matter. The last page is the one at the end of the whole list.
The baseline read is Fastify that asks the store for the same rows and does nothing else.`,
    charts: ({ groups }) => [
      chart('growth', {
        title: 'Speed in stores of all sizes, of that in the smallest',
        series: groups[0]?.rows.map(({ name }) => name) ?? [],
        rows: groups.map(({ name, rows }) => ({ name, bars: rows.map(({ figures }) => bar(figures.ratio)) })),
        mark: 1,
        show: (value) => showNumber(value, 2),
      }),
    ],
  },
  {
    part: 'erase',
    title: 'Erasure',
    text: `One erasure over HTTP beside a bare \`DELETE\` of the same rows, by a connection with the same settings: what was
committed is on the disk. Lethe also cuts the write-ahead log, in which older copies of the rows stand, before it answers;
the second ratio compares with a \`DELETE\` that is followed by that.`,
    charts: ({ groups }) =>
      groups.slice(0, 1).map((group) => chart('erase', ratios('Of the speed of a bare DELETE', group))),
  },
  {
    part: 'import',
    title: 'Import',
    text: `\`lethe import\` of a file, as a process with its start, beside batched inserts of the same rows that look at nothing and
count nothing; for those, making the rows is not timed. Then the same file again, which changes nothing.`,
    charts: ({ groups }) =>
      groups.map((group) =>
        chart(`import-${slug(group.name)}`, rates(`Rows per second, ${group.name}`, group)),
      ),
  },
  {
    part: 'sweep',
    title: 'Sweep',
    text: `A sweep of what has aged out, beside deletes of the same rows in transactions as large. What it costs depends on what
it deletes, not on what the store holds.`,
    charts: ({ groups }) =>
      groups
        .filter(({ rows }) => rows.some(({ figures }) => figures.bareRowsPerSecond))
        .map((group, index) =>
          chart(`sweep-${index + 1}`, {
            title: `Rows per second, ${group.name}`,
            series: ['sweep', 'plain deletes'],
            rows: group.rows
              .filter(({ figures }) => figures.rowsPerSecond)
              .map(({ name, figures }) => ({
                name,
                bars: [bar(figures.rowsPerSecond), bar(figures.bareRowsPerSecond)],
              })),
            show: (value) => showNumber(value, 0),
          }),
        ),
  },
  {
    part: 'start',
    title: 'Start, memory, package',
    text: `From the moment the process is asked for to its first answer, on a clone that has been started before; and without what
Node compiled then.`,
    charts: () => [],
  },
  {
    part: 'mixed',
    title: 'A mixed load',
    text: `Of a hundred requests ninety read, eight list, two erase, at an even pace, while an import and a sweep never end.
The import brings visits that age out within seconds, so that the sweep has something to do every second.`,
    charts: ({ groups }) =>
      groups.map((group) =>
        chart('mixed', {
          title: 'Milliseconds to the answer',
          series: ['p50', 'p99', 'p99.9'],
          rows: group.rows.map(({ name, figures }) => ({
            name,
            bars: [bar(figures.p50Ms), bar(figures.p99Ms), bar(figures.p999Ms)],
          })),
          show: (value) => showNumber(value, 2),
        }),
      ),
  },
  {
    part: 'postgres',
    title: 'PostgreSQL',
    text: 'The store on PostgreSQL beside the bare SQL, on one server: what Lethe and HTTP add to it.',
    charts: () => [],
  },
  {
    part: 'find',
    title: 'Finding a person',
    text: `A search by an identifier over HTTP, among few subjects and among many, each with two identifiers. A ratio compares with
the fewest in the same round. Then \`lethe import\` of the same lines with and without identifiers.`,
    charts: () => [],
  },
  {
    part: 'export',
    title: 'The whole copy',
    text: `All of one large subject in one request, read to its end, beside reading the same rows with plain SQL in a process of their
own; the memory of the service before it and at its most, without the files that it reads; and what 200 reads a second of other subjects feel of it.`,
    charts: () => [],
  },
]

function ratios(title: string, { rows }: Group): BarChart {
  const drawn = rows.map(({ name, figures }) => ({ name, bars: [bar(figures.ratio)] }))
  return { title, series: ['ratio'], rows: drawn, mark: 1, show: (value) => showNumber(value, 2) }
}

function rates(title: string, { rows }: Group): BarChart {
  const drawn = rows.map(({ name, figures }) => ({ name, bars: [bar(figures.rowsPerSecond)] }))
  return { title, series: ['rows'], rows: drawn, show: (value) => showNumber(value, 0) }
}

function chart(name: string, drawing: BarChart): Chart {
  return { file: `${name}.svg`, title: drawing.title, svg: drawBars(drawing) }
}

function bar(rounds: readonly number[] | undefined): Bar | null {
  if (!rounds || rounds.length === 0) return null
  return { value: median(rounds), low: at(rounds, 0), high: Math.max(...rounds) }
}

function slug(name: string): string {
  return name.toLowerCase().replaceAll(/\W+/g, '-')
}
