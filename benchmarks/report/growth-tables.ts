import { spread, table } from './markdown-table.ts'
import { type Group, median, type Results, type Row } from './results.ts'

/** A column: its heading, and its cell for a row, which is empty if it was not measured. */
type Column = readonly [heading: string, cell: (row: Row) => string]

/** The time of one request, absolute and relative to the smallest store. */
function took(heading: string, name: string): Column {
  return [
    heading,
    ({ figures: { [`${name}Ms`]: ms, [`${name}Times`]: times } }) =>
      ms && times ? `${spread([median(ms)], 1)} (${spread([median(times)], 2)})` : '',
  ]
}

/** The duration of maintenance, and of erasures at the same time. */
function work(heading: string, name: string): Column[] {
  return [
    [`${heading}, s`, ({ figures }) => inSeconds(figures[`${name}Ms`])],
    [
      `erasures beside it, ms: p99, longest`,
      ({ figures: { [`${name}WaitP99Ms`]: p99, [`${name}WaitMs`]: longest } }) =>
        p99 && longest ? `${spread(p99, 0)}, ${spread(longest, 0)}` : '',
    ],
  ]
}

function inSeconds(ms: readonly number[] | undefined): string {
  return ms ? spread([median(ms) / 1_000], 1) : ''
}

function figure(heading: string, name: string, digits = 0): Column {
  return [heading, ({ figures: { [name]: values } }) => (values ? spread(values, digits) : '')]
}

const events: Column = ['events', ({ name }) => name.replace(' events', '')]

const reading: readonly Column[] = [
  events,
  figure('reads per second', 'readsPerSecond'),
  figure('as a ratio', 'readRatio', 2),
  took('first page by ID, ms', 'firstById'),
  took('last page by ID, ms', 'lastById'),
  took('first page by last seen, ms', 'firstBySeen'),
  took('last page by last seen, ms', 'lastBySeen'),
  took('search by prefix, ms', 'prefix'),
  took('by identifier, ms', 'search'),
]

const writing: readonly Column[] = [
  events,
  figure('load, events per second', 'ingestedPerSecond'),
  figure('size, MB', 'megabytes'),
  figure('bytes per event', 'bytesPerEvent'),
  took('erasure, ms', 'erase'),
  figure('sweep of 1 %, rows per second', 'sweptPerSecond'),
  ...work('scrub', 'scrub'),
  ...work('backup', 'backup'),
]

/** The results for stores of different sizes, for each kind of store; empty if none was measured. */
export function growthSection({ growth }: Results): string {
  const measured = growth?.groups.filter(({ rows }) => rows.length > 0) ?? []
  if (measured.length === 0) return ''
  return `## Growth

Each store grows in place, by subjects with ten events in three sessions and two identifiers, and is measured at each size. Requests alternate
with a store of 10,000 events: ratios, and the numbers in brackets, compare the two. Reads are sent over 64 connections, everything else is one
request at a time. During a scrub and a backup, ten erasures a second are sent.

${measured.toSorted(byStore).map(storeSection).join('\n')}
### What does not stay flat

Pages, searches and erasures follow an index from its root to one place, so their time hardly depends on the number of events. These do grow or
slow down:

- **Reads under load**: they ask for random data subjects, and of a larger store fewer are in the caches of the processor, the database and the
  system. The smallest store is always in all of them. A hundred million events need all of the machine's memory on SQLite, and half as much again
  on PostgreSQL, so that many reads wait for the disk.
- **Loading** becomes slower. Rows are stored by data subject, so that an erasure is one range, and new data subjects belong in random places:
  almost every one changes other pages, each of which is written to the log and then to the file.
- **A sweep** of a store that is larger than the memory waits for the disk as well, because what has expired is spread over all data subjects.
- **A scrub and a backup** read the whole store, so their time is proportional to its size.
- **Erasures beside a backup** of the embedded store wait for it, five seconds at most, because the log cannot be truncated while it is read
  ([erasure](storage.md#erasure)). Run backups when few people are erased.
- **Small stores** have more bytes per event, because tables and indexes have a minimum size.

`
}

const order = ['SQLite', 'PostgreSQL', 'Citus']

function byStore(a: Group, b: Group): number {
  return order.indexOf(a.name) - order.indexOf(b.name)
}

function storeSection({ name, rows, notes = [] }: Group): string {
  const tables = [reading, writing].map((columns) => {
    const used = columns.filter(([, cell]) => rows.some((row) => cell(row) !== ''))
    return table(
      used.map(([heading]) => heading),
      rows.map((row) => used.map(([, cell]) => cell(row))),
    )
  })
  return [`### ${name}`, '', ...notes.flatMap((note) => [note, '']), tables.join('\n')].join('\n')
}
