import { readdirSync, readFileSync } from 'node:fs'

/** A sample of a service under load. */
export interface Sample {
  /** Seconds since the load began. */
  second: number
  residentMb: number
  heapMb: number
  handles: number
  p50Ms: number
  p99Ms: number
}

export type Measure = Exclude<keyof Sample, 'second'>

/** How much a measure may gain before it counts as rising: a share of its value, and at least `least`. */
const tolerances: Record<Measure, { share: number; least: number }> = {
  residentMb: { share: 0.1, least: 10 },
  heapMb: { share: 0.15, least: 5 },
  handles: { share: 0, least: 8 },
  p50Ms: { share: 0.25, least: 1 },
  p99Ms: { share: 0.5, least: 10 },
}

interface Trend {
  measure: Measure
  /** The median of each quarter of the time after the warm-up. */
  quarters: [number, number, number, number]
  rises: boolean
}

/** The share of the time in which a service may still grow under its load. */
const warmUp = 0.2

/**
 * The trend of each measure. It rises if both the third and the fourth quarter exceed the first by more than
 * the tolerance: two medians, so that neither a spike nor a busy neighbour counts as a leak.
 */
export function trendsOf(samples: readonly Sample[]): Trend[] {
  const settled = samples.slice(Math.floor(samples.length * warmUp))
  return measures.map((measure) => {
    const values = settled.map((sample) => sample[measure])
    const quarter = (number: number) =>
      median(values.slice((number * values.length) / 4, ((number + 1) * values.length) / 4))
    const quarters: Trend['quarters'] = [quarter(0), quarter(1), quarter(2), quarter(3)]
    const { share, least } = tolerances[measure]
    const most = quarters[0] + Math.max(quarters[0] * share, least)
    return { measure, quarters, rises: quarters[2] > most && quarters[3] > most }
  })
}

export const measures: readonly Measure[] = ['residentMb', 'heapMb', 'handles', 'p50Ms', 'p99Ms']

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5)
}

/** The number below which this share of all numbers lies. */
function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** The process under observation, and the address of its metrics. */
interface Watched {
  pid: number
  metricsUrl: string
}

/** Samples a process: its memory and handles from /proc, its heap from its metrics. */
export async function sample(
  { pid, metricsUrl }: Watched,
  second: number,
  latenciesMs: readonly number[],
): Promise<Sample> {
  const metrics = await (await fetch(metricsUrl)).text()
  return {
    second,
    residentMb: residentMb(pid),
    heapMb: numberIn(metrics, /^nodejs_heap_size_used_bytes (\S+)$/m) / 2 ** 20,
    handles: readdirSync(`/proc/${pid}/fd`).length,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  }
}

export function residentMb(pid: number): number {
  return numberIn(readFileSync(`/proc/${pid}/status`, 'utf8'), /^VmRSS:\s+(\d+) kB$/m) / 1024
}

/** The CPU time of a process, from its metrics. */
export async function cpuSeconds({ metricsUrl }: Watched): Promise<number> {
  return numberIn(await (await fetch(metricsUrl)).text(), /^process_cpu_seconds_total (\S+)$/m)
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1])
}

const width = 860
const panelHeight = 150
const left = 60
const right = 110
const gap = 42

interface Panel {
  title: string
  lines: readonly { measure: Measure; name: string; colour: string }[]
}

const panels: readonly Panel[] = [
  {
    title: 'Memory, MB',
    lines: [
      { measure: 'residentMb', name: 'resident', colour: '#2f6f4f' },
      { measure: 'heapMb', name: 'heap', colour: '#b3632d' },
    ],
  },
  { title: 'Open file handles', lines: [{ measure: 'handles', name: 'handles', colour: '#2f6f4f' }] },
  {
    title: 'Latency, ms',
    lines: [
      { measure: 'p50Ms', name: 'median', colour: '#2f6f4f' },
      { measure: 'p99Ms', name: '99th percentile', colour: '#b3632d' },
    ],
  },
]

/** Draws the samples as an SVG image, with one panel per measure over the same time. */
export function chart(title: string, samples: readonly Sample[]): string {
  const height = gap + panels.length * (panelHeight + gap)
  const parts = panels.map((panel, number) =>
    drawPanel(panel, samples, 2 * gap + number * (panelHeight + gap)),
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + gap}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="${left}" y="28" font-size="16" font-weight="600">${title}</text>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

function drawPanel({ title, lines }: Panel, samples: readonly Sample[], top: number): string {
  const bottom = top + panelHeight
  const seconds = samples.at(-1)?.second ?? 1
  const most = niceAbove(
    Math.max(...lines.flatMap(({ measure }) => samples.map((sample) => sample[measure]))),
  )
  const x = (second: number) => left + (second / seconds) * (width - left - right)
  const y = (value: number) => bottom - (value / most) * panelHeight
  const grid = [0, 0.5, 1].map((share) => {
    const at = y(share * most)
    return `<path d="M${left} ${at}H${width - right}" stroke="#ddd"/><text x="${left - 8}" y="${at + 4}" text-anchor="end" fill="#555">${share * most}</text>`
  })
  const minutes = [0, 0.5, 1].map((share) => {
    const label = `${Number(((share * seconds) / 60).toFixed(1))} min`
    return `<text x="${x(share * seconds)}" y="${bottom + 16}" text-anchor="middle" fill="#555">${label}</text>`
  })
  const drawn = lines.map(({ measure, name, colour }, number) => {
    const points = samples.map((sample) => `${x(sample.second).toFixed(1)},${y(sample[measure]).toFixed(1)}`)
    return (
      `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>` +
      `<text x="${width - right + 8}" y="${top + 12 + number * 16}" fill="${colour}">${name}</text>`
    )
  })
  return [
    `<text x="${left}" y="${top - 8}" font-weight="600">${title}</text>`,
    ...grid,
    ...minutes,
    ...drawn,
  ].join('\n')
}

/** The smallest of 1, 2, 5, 10, 20, 50 … that is not below a number. */
function niceAbove(number: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(number, 1)))
  return ([1, 2, 5].find((step) => step * power >= number) ?? 10) * power
}

/** The samples as CSV. */
export function csv(samples: readonly Sample[]): string {
  const line = (sample: Sample) => [sample.second, ...measures.map((measure) => sample[measure].toFixed(2))]
  return `${[['second', ...measures], ...samples.map(line)].map((cells) => cells.join()).join('\n')}\n`
}
