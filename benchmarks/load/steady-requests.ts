import { setTimeout as delay } from 'node:timers/promises'
import { percentile } from '../report/results.ts'

/** One request at a steady pace; durations are collected by `kind`. */
export interface SteadyRequest {
  kind: string
  path: string
  method?: 'GET' | 'DELETE'
}

/** The durations of requests in ms: median, 99th and 99.9th percentile, and the longest. */
interface Latency {
  requests: number
  p50Ms: number
  p99Ms: number
  p999Ms: number
  maxMs: number
}

/** Requests at a steady pace, independent of responses. */
export class SteadyRequests {
  readonly #running: Promise<void>
  readonly #ask: (dueAt: number) => Promise<void>
  #isStopped = false
  #costs = new Map<string, number[]>()

  /** Sends the next request every `everyMs`, whether or not earlier responses have arrived. */
  constructor(url: string, key: string, next: () => SteadyRequest, everyMs: number) {
    this.#ask = async (dueAt) => {
      const { kind, path, method = 'GET' } = next()
      const response = await fetch(url + path, { method, headers: { authorization: `Bearer ${key}` } })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`${response.status} for a ${kind}`)
      // Timed from when it was due: a stalled server delays all of them, and each delay counts.
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

  /** The durations of requests of each kind while `work` runs. */
  async during(work: () => Promise<unknown>): Promise<Map<string, Latency>> {
    this.#costs = new Map()
    await work()
    return new Map(Array.from(this.#costs, ([kind, costs]) => [kind, latencyOf(costs)]))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }
}

function latencyOf(costs: readonly number[]): Latency {
  return {
    requests: costs.length,
    p50Ms: percentile(costs, 0.5),
    p99Ms: percentile(costs, 0.99),
    p999Ms: percentile(costs, 0.999),
    maxMs: costs.reduce((most, each) => Math.max(most, each), 0),
  }
}
