import { setTimeout as delay } from 'node:timers/promises'
import { percentile } from '../report/results.ts'

/** One request of those that go on at an even pace; `kind` is what its cost is counted under. */
export interface SteadyRequest {
  kind: string
  path: string
  method?: 'GET' | 'DELETE'
}

/** How long requests took, in ms: the median, and what one in a hundred and one in a thousand exceed. */
export interface Felt {
  requests: number
  p50Ms: number
  p99Ms: number
  p999Ms: number
}

/** Requests that go on at an even pace, whatever else happens. */
export class SteadyRequests {
  readonly #running: Promise<void>
  readonly #ask: (dueAt: number) => Promise<void>
  #isStopped = false
  #costs = new Map<string, number[]>()

  /** Makes the next request every `everyMs`, whether the answers before have come or not. */
  constructor(url: string, key: string, next: () => SteadyRequest, everyMs: number) {
    this.#ask = async (dueAt) => {
      const { kind, path, method = 'GET' } = next()
      const response = await fetch(url + path, { method, headers: { authorization: `Bearer ${key}` } })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`${response.status} for a ${kind}`)
      // From when it was due: a server that stalls makes all of them late, and each counts.
      const tookMs = performance.now() - dueAt
      const costs = this.#costs.get(kind)
      if (costs) costs.push(tookMs)
      else this.#costs.set(kind, [tookMs])
    }
    this.#running = this.#run(everyMs)
  }

  async #run(everyMs: number): Promise<void> {
    const underway: Promise<void>[] = []
    for (let dueAt = performance.now(); !this.#isStopped; dueAt += everyMs) {
      const early = dueAt - performance.now()
      if (early > 0) await delay(early)
      underway.push(this.#ask(dueAt))
    }
    await Promise.all(underway)
  }

  /** What requests of each kind cost while `work` was at it. */
  async during(work: () => Promise<unknown>): Promise<Map<string, Felt>> {
    this.#costs = new Map()
    await work()
    return new Map(Array.from(this.#costs, ([kind, costs]) => [kind, felt(costs)]))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }
}

function felt(costs: readonly number[]): Felt {
  return {
    requests: costs.length,
    p50Ms: percentile(costs, 0.5),
    p99Ms: percentile(costs, 0.99),
    p999Ms: percentile(costs, 0.999),
  }
}
