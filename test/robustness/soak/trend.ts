/** One look at a service under load. */
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

/** What a measure may gain before it counts as rising: a share of what it was, and no less than `least`. */
const tolerances: Record<Measure, { share: number; least: number }> = {
  residentMb: { share: 0.1, least: 10 },
  heapMb: { share: 0.15, least: 5 },
  handles: { share: 0, least: 8 },
  p50Ms: { share: 0.25, least: 1 },
  p99Ms: { share: 0.5, least: 10 },
}

export interface Trend {
  measure: Measure
  /** The median of each quarter of the time after the warm-up. */
  quarters: [number, number, number, number]
  rises: boolean
}

/** The share of the time in which a service may still grow into its load. */
const warmUp = 0.2

/**
 * What became of each measure. It rises when both the third and the fourth quarter lie above the first by more than its tolerance:
 * medians, and two of them, so that neither a spike nor a neighbour's busy quarter of an hour is taken for a leak.
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

/** The number below which this share of all lies. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
