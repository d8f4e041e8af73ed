import type { Attributes } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, type MetricProducer, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Limiter } from '../domain/budget.ts'
import type { Services } from '../domain/services.ts'
import type { RequestTraces } from '../http/pipeline.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { metricData, metricFamilies } from './metric-data.ts'
import type { OtlpConfig } from './otlp-settings.ts'
import { hrTime, type JobSpans, jobSpans, RequestSpans } from './spans.ts'
import { tracedLimiter, tracedServices } from './traced-store.ts'

/** Called when exports begin to fail, and when they succeed again. `reason` contains no data. */
export interface OtlpReports {
  onLost(signal: 'traces' | 'metrics', reason: string): void
  onFound(signal: 'traces' | 'metrics'): void
}

interface OtlpDeps {
  /** Such as `sqlite`, by OpenTelemetry's conventions. */
  dbSystem: string
  /** The same metrics that Prometheus reads. */
  metrics: Pick<Metrics, 'text'> | null
  version: string
  instanceId: string
  reports: OtlpReports
}

/** What measures the parts of a service. */
interface Tracing {
  requests: RequestTraces
  jobs: JobSpans
  services(services: Services): Services
  limiter(limiter: Omit<Limiter, 'close'>): Omit<Limiter, 'close'>
}

export interface Otlp {
  /** `null` if traces are not exported. */
  tracing: Tracing | null
  /** Exports the rest, for at most the time that an export may take. */
  close(): Promise<void>
}

export function openOtlp(config: OtlpConfig, deps: OtlpDeps): Otlp {
  const resource = resourceOf(config, deps)
  const { tracesUrl, metricsUrl, timeoutMs } = config
  const traces = tracesUrl === null ? null : openTraces(config, tracesUrl, resource, deps)
  const pushed = metricsUrl === null ? null : pushMetrics(config, metricsUrl, resource, deps)
  return {
    tracing: traces?.tracing ?? null,
    async close() {
      const exported = Promise.allSettled([traces?.shutdown(), pushed?.shutdown()])
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, timeoutMs)
      await Promise.race([exported, late])
      clearTimeout(timer)
    },
  }
}

/** `OTEL_RESOURCE_ATTRIBUTES` may add attributes, and replace ours except the name. */
function resourceOf({ serviceName }: OtlpConfig, { version, instanceId }: OtlpDeps): Resource {
  const own: Attributes = { 'service.version': version, 'service.instance.id': instanceId }
  return resourceFromAttributes(own)
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes({ 'service.name': serviceName }))
}

function openTraces(config: OtlpConfig, url: string, resource: Resource, deps: OtlpDeps) {
  const exporter = reporting(
    new OTLPTraceExporter({ url, timeoutMillis: config.timeoutMs }),
    'traces',
    deps.reports,
  )
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(config),
    // Holds at most 2,048 spans; further ones are dropped.
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('lethe', deps.version)
  const spans = new RequestSpans(tracer)
  const tracing: Tracing = {
    requests: spans,
    jobs: jobSpans(tracer),
    services: (services) => tracedServices(services, spans, deps.dbSystem),
    limiter: (limiter) => tracedLimiter(limiter, spans),
  }
  return { tracing, shutdown: () => provider.shutdown() }
}

function pushMetrics(
  { metricIntervalMs, timeoutMs }: OtlpConfig,
  url: string,
  resource: Resource,
  { metrics, version, reports }: OtlpDeps,
) {
  const since = hrTime(Date.now())
  const bridge: MetricProducer = {
    async collect() {
      const families = metricFamilies((await metrics?.text()) ?? '')
      const now = hrTime(Date.now())
      const scopeMetrics = [
        {
          scope: { name: 'lethe', version },
          metrics: families.map((family) => metricData(family, since, now)),
        },
      ]
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] }
    },
  }
  const reader = new PeriodicExportingMetricReader({
    exporter: reporting(new OTLPMetricExporter({ url, timeoutMillis: timeoutMs }), 'metrics', reports),
    exportIntervalMillis: metricIntervalMs,
    metricProducers: [bridge],
  })
  const provider = new MeterProvider({ resource, readers: [reader] })
  return { shutdown: () => provider.shutdown() }
}

function samplerOf({ sampler, ratio }: OtlpConfig): Sampler {
  const root = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }
  switch (sampler) {
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: root.always_on() })
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: root.always_off() })
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: root.traceidratio() })
    default:
      return root[sampler]()
  }
}

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void
}

/** Reports the first failure of several, and the first success after it. */
function reporting<Items, Reporting extends Exporter<Items>>(
  exporter: Reporting & Exporter<Items>,
  signal: 'traces' | 'metrics',
  { onLost, onFound }: OtlpReports,
): Reporting {
  let isLost = false
  const send = exporter.export.bind(exporter)
  exporter.export = (items, done) =>
    send(items, (result) => {
      const hasFailed = result.code === ExportResultCode.FAILED
      if (hasFailed && !isLost) onLost(signal, result.error?.message ?? 'unknown')
      if (!hasFailed && isLost) onFound(signal)
      isLost = hasFailed
      done(result)
    })
  return exporter
}
