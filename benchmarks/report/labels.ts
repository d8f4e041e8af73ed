import { at, median } from './statistics.ts'

interface Label {
  heading: string
  digits: number
  /** The lowest and the highest round stand beside the median. */
  spread?: boolean
}

/** What each figure is called, in the order of columns. */
export const labels: Record<string, Label> = {
  bodyBytes: { heading: 'body, bytes', digits: 0 },
  requests: { heading: 'requests', digits: 0 },
  rows: { heading: 'rows', digits: 0 },
  requestsPerSecond: { heading: 'requests/s', digits: 0 },
  bareRequestsPerSecond: { heading: 'bare Fastify, requests/s', digits: 0 },
  rowsPerSecond: { heading: 'rows/s', digits: 0, spread: true },
  bareRowsPerSecond: { heading: 'plain deletes, rows/s', digits: 0 },
  bareMs: { heading: 'bare, ms', digits: 2 },
  truncatedMs: { heading: 'bare, log cut too, ms', digits: 2 },
  storeMs: { heading: 'through the store, ms', digits: 2 },
  sweptMs: { heading: 'sweep, ms', digits: 1 },
  tookMs: { heading: 'over HTTP, ms', digits: 2 },
  eraseMs: { heading: 'erasure over HTTP, ms', digits: 2, spread: true },
  searchMs: { heading: 'search over HTTP, ms', digits: 2, spread: true },
  firstMs: { heading: 'first byte, ms', digits: 0 },
  startMs: { heading: 'ms', digits: 0, spread: true },
  seconds: { heading: 'seconds', digits: 1 },
  ratio: { heading: 'ratio', digits: 2, spread: true },
  truncatedRatio: { heading: 'ratio, log cut too', digits: 2, spread: true },
  p50Ms: { heading: 'p50, ms', digits: 2 },
  p99Ms: { heading: 'p99, ms', digits: 2 },
  p999Ms: { heading: 'p99.9, ms', digits: 2 },
  cpuMicros: { heading: 'CPU, µs', digits: 1 },
  bareCpuMicros: { heading: 'bare Fastify CPU, µs', digits: 1 },
  cpuRatio: { heading: 'ratio of CPU', digits: 2, spread: true },
  idleMegabytes: { heading: 'MB before', digits: 1 },
  megabytes: { heading: 'MB', digits: 1 },
}

/** The median, and where it matters and there were several rounds, the lowest and the highest. */
export function showFigure(name: string, rounds: readonly number[]): string {
  const { digits, spread = false } = labels[name] ?? { digits: 2 }
  const show = (value: number) => showNumber(value, digits)
  if (!spread || rounds.length < 2) return show(median(rounds))
  return `${show(median(rounds))} (${show(at(rounds, 0))}–${show(Math.max(...rounds))})`
}

export function showNumber(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
