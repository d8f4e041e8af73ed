import type { PartName } from '../sizes.ts'

/** A measurement on the page: where it is in the results, and its goal. */
export type Goal = {
  what: string
  part: PartName
  group: string
  /** The name of a row, or `last` for the last row of the group. */
  row: string
  /** The name, unit and decimals of the absolute value. */
  figure: string
  unit: string
  digits: number
  comparedWith?: string
  /** Why the goal is missed, if it is. */
  obstacle?: string
} & (
  | { atMost: number; ratio?: undefined; ratioFigure?: undefined; baselineRow?: undefined }
  | {
      atMost?: undefined
      /** The ratio to reach. */
      ratio: number
      /** The name of the ratio; `ratio` by default. */
      ratioFigure?: string
      /** A row whose ratio to the same third program is the baseline. */
      baselineRow?: string
    }
)

const requests = { figure: 'requestsPerSecond', unit: 'requests/s', digits: 0 } as const
const rows = { figure: 'rowsPerSecond', unit: 'rows/s', digits: 0 } as const
const http = { part: 'http', group: 'SQLite', ...requests } as const
const cluster = {
  part: 'cluster',
  group: 'one at a time',
  figure: 'times',
  unit: 'times',
  digits: 1,
  comparedWith: 'the same request on one machine',
} as const
const sameReads = 'Fastify that reads the same rows'

const twoProcessors =
  'The service, the senders and the readers share two processors, and the senders keep them busy. A bare Node server that answers from memory beside them slows down as well.'

/** All goals, in the order of the page. */
export const goals: readonly Goal[] = [
  { ...http, what: 'read', row: 'read', comparedWith: sameReads, ratio: 0.9, baselineRow: 'baseline read' },
  {
    ...http,
    what: 'page of 50',
    row: 'page of 50',
    comparedWith: sameReads,
    ratio: 0.9,
    baselineRow: 'baseline page of 50',
  },
  {
    ...http,
    what: 'refusal without a key (401)',
    row: '401',
    comparedWith: 'a Node server that does what a refusal requires',
    ratio: 0.9,
    baselineRow: 'baseline 401',
  },
  ...[200, 304].map(
    (status): Goal => ({
      ...requests,
      what: `variables (${status})`,
      part: 'variables',
      group: 'variables',
      row: String(status),
      comparedWith: 'a bare `node:http` route with the same body',
      obstacle:
        'Each request is counted against two budgets and logged, and a response has fourteen more headers than that of the bare route.',
      ratio: 0.8,
    }),
  ),
  {
    what: 'fresh connection beside 1,000 busy ones',
    part: 'http',
    group: 'fresh connections',
    row: 'allowed',
    figure: 'worstMs',
    unit: 'ms',
    digits: 0,
    atMost: 1_000,
  },
  {
    what: 'fresh connection beside 1,000 refused ones',
    part: 'http',
    group: 'fresh connections',
    row: 'refused',
    figure: 'worstMs',
    unit: 'ms',
    digits: 0,
    atMost: 1_000,
  },
  {
    what: 'erasure of 100,000 events',
    part: 'erase',
    group: 'erasures',
    row: '100,000 events',
    figure: 'eraseMs',
    unit: 'ms',
    digits: 0,
    comparedWith: 'a plain DELETE that also truncates the log',
    ratio: 0.9,
    ratioFigure: 'truncatedRatio',
  },
  {
    ...rows,
    what: 'import, lines by time',
    part: 'import',
    group: 'lines by time',
    row: 'lethe import',
    comparedWith: 'plain batched inserts',
    ratio: 0.85,
  },
  {
    ...rows,
    what: 'import, lines shuffled',
    part: 'import',
    group: 'lines shuffled',
    row: 'lethe import',
    comparedWith: 'plain batched inserts',
    ratio: 0.85,
  },
  ...[
    { store: 'SQLite', ratio: 0.5 },
    { store: 'PostgreSQL', ratio: 0.4 },
  ].map(
    ({ store, ratio }): Goal => ({
      what: `batches over HTTP from eight senders, on ${store}`,
      part: 'ingest',
      group: `${store}, batches over HTTP`,
      row: '8 senders',
      figure: 'linesPerSecond',
      unit: 'lines/s',
      digits: 0,
      comparedWith: '`lethe import` of the same lines',
      ratio,
    }),
  ),
  ...['SQLite', 'PostgreSQL'].flatMap((store): Goal[] => {
    const reads = {
      part: 'ingest',
      group: `${store}, reads during batches`,
      row: 'during batches',
      figure: 'p99Ms',
      unit: 'ms',
      digits: 1,
      ratio: 0.5,
      obstacle: twoProcessors,
    } as const
    return [
      {
        ...reads,
        what: `p99 of reads during these batches, on ${store}`,
        comparedWith: 'the same reads before',
      },
      {
        ...reads,
        what: `the same, on ${store}`,
        comparedWith: 'the slowdown of a bare server beside it',
        baselineRow: 'bare server during batches',
      },
    ]
  }),
  {
    ...rows,
    what: 'sweep of 100,000 of 2,000,000 events',
    part: 'sweep',
    group: 'in a store of 2,000,000 events',
    row: 'about 100,000 events',
    comparedWith: 'plain deletes in transactions of the same size',
    obstacle:
      'A sweep also updates the counts and times of each data subject, and the index that finds the oldest data. These are on other pages of the file, and writing pages takes half of the time.',
    ratio: 0.85,
  },
  {
    ...requests,
    what: 'read in the largest embedded store',
    part: 'growth',
    group: 'SQLite',
    row: 'last',
    figure: 'readsPerSecond',
    comparedWith: 'the same read among 10,000 events',
    obstacle: 'Random reads of a large store find fewer pages in the caches of the processor and of SQLite.',
    ratio: 0.8,
    ratioFigure: 'readRatio',
  },
  { ...cluster, what: 'read on a cluster', row: 'read', atMost: 2 },
  { ...cluster, what: 'erasure on a cluster', row: 'erase of 10 events', atMost: 2.5 },
  { ...cluster, what: 'page of 200 on a cluster', row: 'page of 200', atMost: 6 },
  { ...cluster, what: 'export on a cluster', row: 'export', atMost: 2 },
  ...['sweep', 'import'].map(
    (row): Goal => ({
      ...rows,
      part: 'cluster',
      group: 'sweeps and imports',
      what: `${row} on a cluster`,
      row,
      comparedWith: 'the same on one machine',
      ratio: 0.5,
    }),
  ),
  {
    what: 'first response of the installed package',
    part: 'start',
    group: 'first answer',
    row: 'installed package',
    figure: 'startMs',
    unit: 'ms',
    digits: 0,
    atMost: 400,
  },
  {
    what: 'idle memory of the installed package',
    part: 'start',
    group: 'memory',
    row: 'idle',
    figure: 'megabytes',
    unit: 'MB',
    digits: 0,
    obstacle: 'Node alone, with one more thread and nothing to do, takes 72 MB.',
    atMost: 100,
  },
]
