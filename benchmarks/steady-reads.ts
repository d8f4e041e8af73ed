import { setTimeout as delay } from 'node:timers/promises'

/** Reads that go on at an even pace, whatever else happens. */
export class SteadyReads {
  readonly #running: Promise<void>
  #isStopped = false
  #costs: number[] = []

  /** Asks for the next path every `everyMs`, whether the answers before have come or not. */
  constructor(url: string, key: string, nextPath: () => string, everyMs: number) {
    this.#running = this.#run(async (dueAt) => {
      const response = await fetch(url + nextPath(), { headers: { authorization: `Bearer ${key}` } })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`${response.status} for a read`)
      // From when it was due: a server that stalls makes all of them late, and each counts.
      this.#costs.push(performance.now() - dueAt)
    }, everyMs)
  }

  async #run(read: (dueAt: number) => Promise<void>, everyMs: number): Promise<void> {
    const underway: Promise<void>[] = []
    for (let dueAt = performance.now(); !this.#isStopped; dueAt += everyMs) {
      const early = dueAt - performance.now()
      if (early > 0) await delay(early)
      underway.push(read(dueAt))
    }
    await Promise.all(underway)
  }

  /** How long the reads took while `work` was at it: the median, and what one in a hundred exceeds. */
  async during(work: () => Promise<unknown>): Promise<{ reads: number; p50: number; p99: number }> {
    this.#costs = []
    await work()
    const costs = this.#costs.sort((a, b) => a - b)
    const at = (share: number) => costs[Math.floor(costs.length * share)] ?? Number.NaN
    return { reads: costs.length, p50: at(0.5), p99: at(0.99) }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }
}

export function describeReads(
  what: string,
  { reads, p50, p99 }: { reads: number; p50: number; p99: number },
): string {
  return `${what.padEnd(34)}${String(reads).padStart(7)} reads, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`
}
