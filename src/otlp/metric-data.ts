import { type HrTime, ValueType } from '@opentelemetry/api'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics'
import type { MetricFamily, MetricSample } from './metric-families.ts'

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
