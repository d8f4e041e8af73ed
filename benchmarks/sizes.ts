import type { LineOrder } from './stores/visits.ts'

/** The sizes of each part: numbers and lists, so that each can be set on the command line. */
export interface Sizes {
  http: HttpSize
  variables: VariablesSize
  growth: GrowthSize
  erase: EraseSize
  import: ImportSize
  sweep: SweepSize
  start: StartSize
  mixed: MixedSize
  postgres: PostgresSize
  find: FindSize
  export: ExportSize
  cluster: ClusterSize
  ingest: IngestSize
}

export type PartName = keyof Sizes

export interface HttpSize {
  stores: string[]
  routes: string[]
  subjects: number
  /** Subjects to erase, each once. */
  erasures: number
  warmUps: number
  rounds: number
  seconds: number
  connections: number
  /** The number of busy connections while fresh ones are opened; 0 to skip that. */
  busyConnections: number
}

export interface GrowthSize {
  stores: string[]
  /** The sizes at which each store is measured, while it grows. */
  events: number[]
  /** The largest size of a cluster. */
  clusterEvents: number
  warmUps: number
  rounds: number
  seconds: number
  connections: number
  /** The pages and searches of each kind, one at a time, in each round. */
  requests: number
  /** The erasures, one at a time, in each round. */
  erasures: number
}

export interface EraseSize {
  events: number[]
  /** How many subjects of each size are erased in a round. */
  subjects: number[]
  /** The sessions of one more subject, with ten events each. */
  overlappingSessions: number
  rounds: number
  otherSubjects: number
  quietSeconds: number
}

export interface ImportSize {
  orders: LineOrder[]
  lines: number
  rounds: number
}

export interface IngestSize {
  stores: string[]
  lines: number
  linesEach: number
  senders: number
  rounds: number
  /** Subjects that are read at the same time. */
  subjects: number
  quietSeconds: number
}

export interface SweepSize {
  /** The number of subjects in each store, with 20 events each. */
  subjects: number[]
  aged: number[]
  rounds: number
  quietSeconds: number
  /** The number of events that expire during the reads. */
  agedMeanwhile: number
}

export interface StartSize {
  /** The first start has a cold disk cache. */
  warmUps: number
  rounds: number
  /** How often the memory of a started service is measured. */
  memoryRounds: number
  loadSeconds: number
  connections: number
}

export interface MixedSize {
  seconds: number
  requestsPerSecond: number
  subjects: number
  importedLinesPerSecond: number
}

export interface PostgresSize {
  subjects: number
  rounds: number
  erasedEvents: number[]
  erasures: number[]
  seconds: number
  connections: number
  lines: number
}

export interface VariablesSize {
  /** The variables of the tracker. */
  variables: number
  warmUps: number
  rounds: number
  /** The duration of each load. */
  seconds: number
  connections: number
}

export interface FindSize {
  stores: string[]
  subjects: number[]
  rounds: number
  /** The searches, one at a time, in each round. */
  searches: number
  /** The lines of the imports with and without identifiers. */
  lines: number
}

export interface ExportSize {
  stores: string[]
  events: number
  otherSubjects: number
  rounds: number
  /** The number of read measurements in each round, because a single p99 says little on a busy machine. */
  readings: number
  quietSeconds: number
}

export interface ClusterSize {
  subjects: number
  rounds: number
  erasures: number
  exportedEvents: number
  exports: number
  sweeps: number
  lines: number
  imports: number
}

const routes = [
  ...['node:http', 'baseline read', 'read', 'baseline page of 50', 'page of 50', 'page of 200', 'erase'],
  ...['baseline 401', '401', '404', '429 by address', '429 by key'],
]

/** The sizes of the results page. */
const full: Sizes = {
  http: {
    stores: ['SQLite', 'PostgreSQL with Redis'],
    routes,
    subjects: 20_000,
    erasures: 100_000,
    warmUps: 2,
    rounds: 9,
    seconds: 1,
    connections: 64,
    busyConnections: 1_000,
  },
  variables: { variables: 50, warmUps: 2, rounds: 9, seconds: 1, connections: 64 },
  growth: {
    stores: ['SQLite', 'PostgreSQL', 'Citus'],
    events: [10_000, 1_000_000, 10_000_000],
    clusterEvents: 1_000_000,
    warmUps: 1,
    rounds: 5,
    seconds: 1,
    connections: 64,
    requests: 50,
    erasures: 20,
  },
  erase: {
    events: [10, 1_000, 100_000, 1_000_000],
    subjects: [20, 10, 3, 1],
    overlappingSessions: 10_000,
    rounds: 3,
    otherSubjects: 20_000,
    quietSeconds: 5,
  },
  import: { orders: ['by time', 'shuffled'], lines: 1_000_000, rounds: 2 },
  ingest: {
    stores: ['SQLite', 'PostgreSQL'],
    lines: 300_000,
    linesEach: 1_000,
    senders: 8,
    rounds: 3,
    subjects: 20_000,
    quietSeconds: 5,
  },
  sweep: {
    subjects: [20_000, 100_000],
    aged: [0, 10_000, 100_000],
    rounds: 3,
    quietSeconds: 10,
    agedMeanwhile: 100_000,
  },
  start: { warmUps: 1, rounds: 9, memoryRounds: 3, loadSeconds: 5, connections: 64 },
  mixed: { seconds: 60, requestsPerSecond: 500, subjects: 200_000, importedLinesPerSecond: 5_000 },
  postgres: {
    subjects: 200_000,
    rounds: 400,
    erasedEvents: [10, 1_000, 100_000],
    erasures: [40, 10, 3],
    seconds: 5,
    connections: 64,
    lines: 1_000_000,
  },
  find: {
    stores: ['SQLite', 'PostgreSQL'],
    subjects: [1_000, 1_000_000],
    rounds: 3,
    searches: 500,
    lines: 1_000_000,
  },
  export: {
    stores: ['SQLite', 'PostgreSQL'],
    events: 1_000_000,
    otherSubjects: 20_000,
    rounds: 3,
    readings: 3,
    quietSeconds: 5,
  },
  cluster: {
    subjects: 20_000,
    rounds: 200,
    erasures: 40,
    exportedEvents: 100_000,
    exports: 5,
    sweeps: 5,
    lines: 200_000,
    imports: 3,
  },
}

/** Stores of up to a hundred million events. Takes most of a day. */
const huge: Sizes = {
  ...full,
  growth: {
    ...full.growth,
    events: [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000],
    clusterEvents: 10_000_000,
  },
}

/** Enough to see the effect of a change within a minute. */
const quick: Sizes = {
  ...full,
  http: {
    ...full.http,
    stores: ['SQLite'],
    routes: ['baseline read', 'read', 'baseline page of 50', 'page of 50', 'baseline 401', '401'],
    subjects: 2_000,
    erasures: 0,
    warmUps: 1,
    rounds: 2,
    busyConnections: 0,
  },
  growth: {
    ...full.growth,
    stores: ['SQLite'],
    events: [10_000, 100_000],
    warmUps: 0,
    rounds: 1,
    erasures: 10,
  },
  erase: {
    events: [100_000],
    subjects: [1],
    overlappingSessions: 10_000,
    rounds: 3,
    otherSubjects: 2_000,
    quietSeconds: 0,
  },
  import: { orders: ['by time'], lines: 100_000, rounds: 1 },
  start: { warmUps: 1, rounds: 2, memoryRounds: 1, loadSeconds: 1, connections: 64 },
}

/** Everything once, to test the benchmarks; the results are meaningless. */
const toy: Sizes = {
  http: {
    stores: ['SQLite'],
    routes: [
      'node:http',
      'baseline read',
      'read',
      'baseline page of 50',
      'erase',
      'baseline 401',
      '429 by key',
    ],
    subjects: 300,
    erasures: 2_000,
    warmUps: 0,
    rounds: 1,
    // Long enough for a response on a busy machine.
    seconds: 1,
    connections: 8,
    busyConnections: 20,
  },
  growth: {
    stores: ['SQLite', 'PostgreSQL', 'Citus'],
    events: [5_000, 10_000],
    clusterEvents: 10_000,
    warmUps: 0,
    rounds: 1,
    seconds: 1,
    connections: 8,
    requests: 2,
    erasures: 2,
  },
  erase: {
    events: [10, 1_000],
    subjects: [2, 1],
    overlappingSessions: 150,
    rounds: 1,
    otherSubjects: 50,
    quietSeconds: 0.1,
  },
  import: { orders: ['by time'], lines: 500, rounds: 1 },
  ingest: {
    stores: ['SQLite', 'PostgreSQL'],
    lines: 1_000,
    linesEach: 100,
    senders: 2,
    rounds: 1,
    subjects: 50,
    quietSeconds: 0.1,
  },
  sweep: { subjects: [2_000], aged: [0, 1_000], rounds: 1, quietSeconds: 0.1, agedMeanwhile: 10_000 },
  start: { warmUps: 0, rounds: 1, memoryRounds: 1, loadSeconds: 0.1, connections: 8 },
  mixed: { seconds: 1, requestsPerSecond: 100, subjects: 100, importedLinesPerSecond: 200 },
  postgres: {
    subjects: 100,
    rounds: 3,
    erasedEvents: [10],
    erasures: [2],
    seconds: 1,
    connections: 8,
    lines: 500,
  },
  variables: { variables: 3, warmUps: 0, rounds: 1, seconds: 0.2, connections: 4 },
  find: { stores: ['SQLite', 'PostgreSQL'], subjects: [50, 200], rounds: 1, searches: 5, lines: 500 },
  export: {
    stores: ['SQLite', 'PostgreSQL'],
    events: 2_000,
    otherSubjects: 50,
    rounds: 1,
    readings: 1,
    quietSeconds: 0.1,
  },
  cluster: {
    subjects: 100,
    rounds: 3,
    erasures: 2,
    exportedEvents: 2_000,
    exports: 1,
    sweeps: 1,
    lines: 1_000,
    imports: 1,
  },
}

export const sizes: Record<string, Sizes> = { full, huge, quick, toy }
