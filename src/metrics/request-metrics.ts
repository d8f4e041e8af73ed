/** In seconds. */
const upperBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The requests with the same route, method and status. */
interface Series {
  /** Requests per bucket; the last bucket is unbounded. */
  counts: number[]
  seconds: number
}

/**
 * Counts requests in plain arrays, which takes a twentieth of the time of prom-client's histogram (half a
 * microsecond of the twenty of a read), and writes the same text format.
 */
export class RequestDurations {
  readonly name = 'lethe_http_request_duration_seconds'
  readonly help = 'Duration of requests, from their arrival to the end of the response.'
  readonly #routes = new Map<string | null, Map<string, Map<number, Series>>>()

  /** `route` is `null` for an unknown path; `status` is 0 if the client left before the response. */
  note(route: string | null, method: string | null, status: number, durationMs: number): void {
    const seconds = durationMs / 1000
    const byMethod = entry(this.#routes, route, newMap<string, Map<number, Series>>)
    const known = method !== null && methods.has(method) ? method : 'other'
    const series = entry(entry(byMethod, known, newMap<number, Series>), status, newSeries)
    let bucket = 0
    while (bucket < upperBounds.length && seconds > (upperBounds[bucket] ?? 0)) bucket++
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.seconds += seconds
  }

  text(): string {
    const lines = [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} histogram`]
    for (const [route, byMethod] of this.#routes) {
      for (const [method, byStatus] of byMethod) {
        for (const [status, series] of byStatus) {
          const labels = `route="${route ?? 'unknown'}",method="${method}",status="${status === 0 ? 'none' : status}"`
          lines.push(...this.#lines(labels, series))
        }
      }
    }
    return `${lines.join('\n')}\n`
  }

  #lines(labels: string, { counts, seconds }: Series): string[] {
    let count = 0
    const lines = counts.map((inBucket, i) => {
      count += inBucket
      return `${this.name}_bucket{${labels},le="${upperBounds[i] ?? '+Inf'}"} ${count}`
    })
    return [...lines, `${this.name}_sum{${labels}} ${seconds}`, `${this.name}_count{${labels}} ${count}`]
  }
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = make()
  map.set(key, value)
  return value
}

function newMap<Key, Value>(): Map<Key, Value> {
  return new Map()
}

function newSeries(): Series {
  return { counts: Array(upperBounds.length + 1).fill(0), seconds: 0 }
}
