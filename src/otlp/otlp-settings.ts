/** What is exported over OTLP, and the endpoint for it. */
export interface OtlpConfig {
  /** The complete address; `null` if traces are not exported. */
  tracesUrl: string | null
  /** The same for metrics. */
  metricsUrl: string | null
  /** How long an export may take, with its retries. */
  timeoutMs: number
  serviceName: string
  sampler: (typeof samplers)[number]
  /** The share of traces that a ratio sampler keeps. */
  ratio: number
  metricIntervalMs: number
}

/** The names that OpenTelemetry gives to samplers. */
export const samplers = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const

const signals = ['traces', 'metrics'] as const
type Signal = (typeof signals)[number]

/** Empty for `off`; `null` if invalid. */
export function parseSignals(text: string): Signal[] | null {
  if (text === 'off') return []
  const named = text.split(',').map((each) => each.trim())
  const found = signals.filter((signal) => named.includes(signal))
  return found.length === named.length ? found : null
}

export function parseEndpoint(text: string): string | null {
  const url = URL.parse(text)
  return url && /^https?:$/.test(url.protocol) ? text : null
}

/** Empty if not set. */
export function parseOptionalEndpoint(text: string): string | null {
  return text === '' ? text : parseEndpoint(text)
}

/** The address of a signal at a collector. */
export function signalUrl(endpoint: string, signal: Signal): string {
  return `${endpoint.replace(/\/$/, '')}/v1/${signal}`
}

/** A number from 0 to 1. */
export function parseShare(text: string): number | null {
  return /^(0|1|0?\.\d{1,9}|1\.0+)$/.test(text) ? Number(text) : null
}
