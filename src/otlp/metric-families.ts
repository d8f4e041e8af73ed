/** A metric with its samples, as Prometheus reads them: a histogram's buckets are cumulative. */
export interface MetricFamily {
  name: string
  help: string
  type: string
  samples: MetricSample[]
}

export interface MetricSample {
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
