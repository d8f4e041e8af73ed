import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { dataOf, errorOf } from '../../support/answers.ts'
import { type Answer, assertDocumented } from '../../support/documented.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { subjectPath, subjectsPath } from '../../support/shop.ts'
import { dayMs, ids, now, visits } from '../kill/visits.ts'
import { ask, clientAddress, type Fleet, type Server } from './fleet.ts'

/** Longer than every timeout of the service. */
const timeoutMs = 60_000

const errorCodes = { 404: 'not_found', 429: 'rate_limited', 500: 'internal_error' } as const

/** A request; by default from an address that nothing else uses. */
interface Call {
  method?: 'GET' | 'DELETE'
  from?: string
}

/**
 * Sends requests to the processes of a fleet in turn, like a load balancer, and checks what every answer must
 * have: the envelope, the request ID, a documented status, and a bounded response time.
 */
class Caller {
  readonly #fleet: Fleet
  #calls = 0
  /** The number of answers with each status. */
  readonly statuses: Record<number, number> = {}
  /** The number of requests lost with a killed process. */
  lost = 0
  longestMs = 0

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  /** Sends a request to the next process not known to be dead. `null` if it was killed before it answered. */
  async ask(path: string, call: Call = {}): Promise<Answer | null> {
    return this.#askServer(this.#nextServer(), path, call)
  }

  async #askServer(server: Server, path: string, { method = 'GET', from }: Call): Promise<Answer | null> {
    const startedAt = performance.now()
    const address = from ?? clientAddress(++this.#calls)
    const signal = AbortSignal.timeout(timeoutMs)
    const sent = ask(server.url, path, { key: this.#fleet.key, method, from: address, signal })
    const answer = await sent.catch((error) => {
      if (!server.isKilled) throw new Error('a living process did not answer', { cause: error })
      return null
    })
    if (answer === null) {
      this.lost += 1
      return null
    }
    this.longestMs = Math.max(this.longestMs, performance.now() - startedAt)
    this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1
    assertDocumented(method, path, answer)
    const { status } = answer
    if (status === 404 || status === 429 || status === 500) errorOf(answer, errorCodes[status])
    else dataOf(answer)
    return answer
  }

  #nextServer(): Server {
    const living = this.#fleet.places.map(({ server }) => server).filter(({ isKilled }) => !isKilled)
    const server = living[this.#calls % living.length]
    assert.ok(server, 'there is always somebody left')
    return server
  }
}

const counts = { sessions: 2, events: 10 }
const keepers = ids('keeper', 40)

/** Subjects who stay, and `doomed` subjects to erase. All have the same counts. */
export function someSubjects(random: SeededRandom, doomed: number): IncomingRow[] {
  const crowd = { sessions: counts.sessions, events: counts.events / counts.sessions }
  const between = { from: now - 20 * dayMs, to: now - dayMs }
  return visits(random, { ...crowd, ...between, subjectIds: [...keepers, ...ids('doomed', doomed)] })
}

/** Continuous reads, lists and erasures, and what is known about their results. */
export class Load {
  readonly caller: Caller
  readonly #random: SeededRandom
  /** Subjects who are still to be erased. */
  readonly #doomed: string[]
  /** Subjects whose erasure was acknowledged. */
  readonly erased: string[] = []
  #isOver = false
  readonly #failures: unknown[] = []
  readonly #workers: Promise<void>[]

  constructor(fleet: Fleet, random: SeededRandom, doomed: number) {
    this.caller = new Caller(fleet)
    this.#random = random
    this.#doomed = ids('doomed', doomed)
    const works = [this.#read, this.#read, this.#read, this.#ignoreBudget, this.#erase, this.#erase]
    this.#workers = works.map((work) => this.#repeat(work.bind(this)))
  }

  /** Fails if anything has failed so far. */
  assertNoFailure(): void {
    if (this.#failures.length > 0) throw this.#failures[0]
  }

  /** Stops it once every started erasure is acknowledged. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#workers)
    this.assertNoFailure()
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isOver && this.#failures.length === 0) {
      await work().catch((error) => this.#failures.push(error))
      await delay(4 + this.#random.integer(8))
    }
  }

  async #read(): Promise<void> {
    const keeper = subjectPath(this.#random.pick(keepers))
    const paths = [keeper, `${keeper}/sessions`, `${keeper}/events?limit=5`, subjectsPath]
    const gone = this.erased.length > 0 && this.#random.integer(3) === 0
    const path = gone ? subjectPath(this.#random.pick(this.erased)) : this.#random.pick(paths)
    const answer = await this.caller.ask(path)
    if (answer === null || answer.status === 500) return
    assert.equal(answer.status, gone ? 404 : 200)
    if (path === keeper) assert.deepEqual(dataOf(answer).counts, counts)
  }

  /** A client that ignores budgets. */
  async #ignoreBudget(): Promise<void> {
    const answer = await this.caller.ask(subjectsPath, { from: '192.0.2.1' })
    assert.ok(answer === null || [200, 429, 500].includes(answer.status))
  }

  /** Erases a subject with one or more concurrent requests, and repeats them until one is acknowledged. */
  async #erase(): Promise<void> {
    const subjectId = this.#doomed.pop() ?? this.#random.pick(this.erased)
    let [reported, isUnsure] = [this.erased.includes(subjectId) ? 1 : 0, false]
    for (;;) {
      const requests = Array.from({ length: 1 + this.#random.integer(3) }, () =>
        this.caller.ask(subjectPath(subjectId), { method: 'DELETE' }),
      )
      const answers = await Promise.all(requests)
      const acknowledged = answers.filter((answer) => answer?.status === 200)
      reported += acknowledged.filter((answer) => answer !== null && reportsCounts(answer)).length
      isUnsure ||= acknowledged.length < answers.length
      if (acknowledged.length > 0) break
      await delay(50)
    }
    assert.ok(reported === 1 || (reported === 0 && isUnsure), `${reported} erasures reported the counts`)
    this.erased.push(subjectId)
  }
}

/** Whether an erasure reports counts. Fails unless they are the subject's, or zero. */
function reportsCounts(answer: Answer): boolean {
  const { alreadyErased, counts: deleted } = dataOf(answer)
  assert.deepEqual(deleted, alreadyErased === true ? { sessions: 0, events: 0 } : counts)
  return alreadyErased === false
}
