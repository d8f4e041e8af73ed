import { type HrTime, ValueType } from '@opentelemetry/api'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics'

/** A metric with its samples, as Prometheus reads them: a histogram's buckets are cumulative. */
interface MetricFamily {
  name: string
  help: string
  type: string
  samples: MetricSample[]
}

interface MetricSample {
  /** That of the family or, for a histogram, of one of its series. */
  name: string
  labels: Readonly<Record<string, string>>
  value: number
}

const infinity: Record<string, number> = { '+Inf': Infinity, '-Inf': -Infinity }

/** Reads Prometheus's text format. The samples of a metric follow its type. */
export function metricFamilies(text: string): MetricFamily[] {
  const families: MetricFamily[] = []
  const help = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\w+) (.*)$/.exec(line) ?? []
    if (keyword === 'HELP') help.set(name, rest)
    if (keyword === 'TYPE') families.push({ name, help: help.get(name) ?? '', type: rest, samples: [] })
    const sample = line.startsWith('#') ? null : /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line)
    if (!sample) continue
    const [, series = '', labels = '', value = ''] = sample
    families
      .at(-1)
      ?.samples.push({ name: series, labels: labelsIn(labels), value: infinity[value] ?? Number(value) })
  }
  return families
}

/** A value in quotes has the escapes of JSON. */
function labelsIn(text: string): Record<string, string> {
  const pairs = text.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g)
  return Object.fromEntries(Array.from(pairs, ([, label = '', value = '""']) => [label, JSON.parse(value)]))
}

/** Converts a metric for Prometheus. The name stays the same; sums and histograms are cumulative. */
export function metricData(
  { name, help, type, samples }: MetricFamily,
  since: HrTime,
  now: HrTime,
): MetricData {
  const common = {
    descriptor: { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const pointOf = ({ labels, value }: MetricSample): DataPoint<number> => {
    return { startTime: since, endTime: now, attributes: labels, value }
  }
  if (type === 'histogram') {
    const series = Map.groupBy(samples, ({ labels }) => JSON.stringify({ ...labels, le: undefined }))
    const dataPoints = Array.from(series.values(), (own): DataPoint<Histogram> => {
      const { le: _, ...attributes } = own[0]?.labels ?? {}
      return { startTime: since, endTime: now, attributes, value: histogramOf(name, own) }
    })
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
  const dataPoints = samples.map(pointOf)
  if (type === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
  return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
}

/** Prometheus counts all values up to a bound, OpenTelemetry those between two bounds. */
function histogramOf(name: string, series: readonly MetricSample[]): Histogram {
  const numberOf = (suffix: string) => series.find((sample) => sample.name === name + suffix)?.value ?? 0
  const cumulative = series.filter((sample) => sample.name === `${name}_bucket`)
  return {
    buckets: {
      boundaries: cumulative.map(({ labels }) => Number(labels.le)).filter(Number.isFinite),
      counts: cumulative.map(({ value }, i) => value - (cumulative[i - 1]?.value ?? 0)),
    },
    sum: numberOf('_sum'),
    count: numberOf('_count'),
  }
}

/** The names end with their unit, or with `_total` after it. */
function unitOf(name: string): string {
  const bare = name.replace(/_total$/, '')
  if (bare.endsWith('_seconds')) return 's'
  return bare.endsWith('_bytes') ? 'By' : '1'
}
