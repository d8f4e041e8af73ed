import { setTimeout as delay } from 'node:timers/promises'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import type { CommandLine } from '../../support/command-line.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { subjectPath, subjectsPath, visit } from '../../support/shop.ts'
import { dayMs, ids, ndjson } from '../kill/visits.ts'

/** A short window and interval, so that imported data ages out and is swept within three minutes. */
export const retention = { LETHE_RETENTION_DAYS: 'free=1', LETHE_SWEEP_SECONDS: '10' }

const keepers = ids('keeper', 5_000)
const importEveryMs = 10_000
/** Only the last erased subjects are requested again. */
const rememberedErasures = 1_000

/** The subjects who stay: 5,000, each with two sessions of ten events. */
export function population(): IncomingRow[] {
  return keepers.flatMap((id) => [
    ...visit(id, { events: 10 }),
    ...visit(id, { events: 10, sessionId: 's2', startedAt: Date.now() - dayMs / 4 }),
  ])
}

interface Parts {
  url: string
  key: string
  cli: CommandLine
  random: SeededRandom
  /** Requests per second, sent on schedule whether or not earlier ones were answered. */
  rate: number
}

/** Reads, lists, erasures and, every ten seconds, an import of as many subjects as are deleted. */
export class MixedLoad {
  readonly #parts: Parts
  readonly #doomed: string[] = []
  readonly #erased: string[] = []
  readonly #works: Promise<void>[]
  #cursor: string | null = null
  #latencies: number[] = []
  #isOver = false
  #imports = 0
  requests = 0
  /** Descriptions of wrong answers. */
  readonly faults: string[] = []

  constructor(parts: Parts) {
    this.#parts = parts
    this.#works = [this.#send(), this.#import()]
  }

  /** The response times since the last call. */
  takeLatencies(): number[] {
    const latencies = this.#latencies
    this.#latencies = []
    return latencies
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#works)
  }

  async #send(): Promise<void> {
    const { random, rate } = this.#parts
    const startedAt = performance.now()
    const underWay = new Set<Promise<void>>()
    while (!this.#isOver) {
      const dueMs = startedAt + (this.requests * 1_000) / rate - performance.now()
      if (dueMs > 1) await delay(dueMs)
      const request = this.#one(random.integer(100)).finally(() => underWay.delete(request))
      underWay.add(request)
      this.requests += 1
    }
    await Promise.all(underWay)
  }

  #one(chance: number): Promise<void> {
    const { random } = this.#parts
    const keeper = subjectPath(random.pick(keepers))
    if (chance < 40) return this.#ask(keeper)
    if (chance < 52) return this.#ask(`${keeper}/sessions`)
    if (chance < 64) return this.#ask(`${keeper}/events?limit=20`)
    if (chance < 80) return this.#walk()
    if (chance < 86) return this.#ask(`${subjectsPath}?sort=-lastSeenAt&limit=100`)
    if (chance < 92) return this.#ask(`${subjectsPath}?limit=0`, 422)
    if (chance < 96 && this.#erased.length > 0) return this.#ask(subjectPath(random.pick(this.#erased)), 404)
    return this.#erase()
  }

  /** The next page of a continuous traversal of all subjects. */
  async #walk(): Promise<void> {
    const from = this.#cursor === null ? '' : `&cursor=${encodeURIComponent(this.#cursor)}`
    await this.#ask(`${subjectsPath}?limit=200${from}`, 200, (text) => {
      const [, cursor] = /"nextCursor":"([^"]+)"/.exec(text) ?? []
      this.#cursor = cursor ?? null
    })
  }

  async #erase(): Promise<void> {
    const id = this.#doomed.pop() ?? this.#erased.at(-1)
    if (id === undefined) return
    await this.#ask(subjectPath(id), 200, () => this.#erased.push(id), 'DELETE')
    if (this.#erased.length > rememberedErasures) this.#erased.shift()
  }

  async #ask(
    path: string,
    status = 200,
    onBody = (_: string): unknown => null,
    method = 'GET',
  ): Promise<void> {
    const { url, key } = this.#parts
    const startedAt = performance.now()
    try {
      const response = await fetch(url + path, { method, headers: { authorization: `Bearer ${key}` } })
      const body = await response.text()
      this.#latencies.push(performance.now() - startedAt)
      if (response.status === status) onBody(body)
      else this.faults.push(`${method} ${path}: ${response.status} where ${status} should be: ${body}`)
    } catch (error) {
      this.faults.push(`${method} ${path}: ${error}`)
    }
  }

  async #import(): Promise<void> {
    const { cli, rate } = this.#parts
    while (!this.#isOver) {
      const startedAt = performance.now()
      const name = `import-${++this.#imports}`
      const erasures = Math.round((0.05 * rate * importEveryMs) / 1_000)
      const doomed = ids(`doomed-${name}`, erasures)
      const ageing = ids(`ageing-${name}`, erasures)
      const almostADayAgo = Date.now() - dayMs + 120_000
      const rows = [
        ...doomed.flatMap((id) => visit(id, { events: 20 })),
        ...ageing.flatMap((id) => visit(id, { events: 20, startedAt: almostADayAgo })),
      ]
      const { code, stderr } = await cli.runProgram(['import', '-'], { input: ndjson(rows) })
      if (code === 0) this.#doomed.push(...doomed)
      else this.faults.push(`an import ended with ${code}: ${stderr}`)
      while (!this.#isOver && performance.now() < startedAt + importEveryMs) await delay(100)
    }
  }
}
