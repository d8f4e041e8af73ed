import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { dataOf } from '../../support/answers.ts'
import type { Answer } from '../../support/documented.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { subjectPath, subjectsPath } from '../../support/shop.ts'
import { dayMs, ids, now, visits } from '../kill/visits.ts'
import { Caller } from './caller.ts'
import type { Fleet } from './fleet.ts'

const counts = { sessions: 2, events: 10 }
const keepers = ids('keeper', 40)

/** Subjects who stay, and so many who will be erased. All have the same counts. */
export function someSubjects(random: SeededRandom, doomed: number): IncomingRow[] {
  const crowd = { sessions: counts.sessions, events: counts.events / counts.sessions }
  const between = { from: now - 20 * dayMs, to: now - dayMs }
  return visits(random, { ...crowd, ...between, subjectIds: [...keepers, ...ids('doomed', doomed)] })
}

/** Reads, pages and erasures, without end, and what is known of them. */
export class Load {
  readonly caller: Caller
  readonly #random: SeededRandom
  /** Who has yet to be erased. */
  readonly #doomed: string[]
  /** Whose erasure was acknowledged. */
  readonly erased: string[] = []
  #isOver = false
  readonly #failures: unknown[] = []
  readonly #workers: Promise<void>[]

  constructor(fleet: Fleet, random: SeededRandom, doomed: number) {
    this.caller = new Caller(fleet)
    this.#random = random
    this.#doomed = ids('doomed', doomed)
    const works = [this.#read, this.#read, this.#read, this.#beGreedy, this.#erase, this.#erase]
    this.#workers = works.map((work) => this.#repeat(work.bind(this)))
  }

  /** Fails when anything has gone wrong so far. */
  assertWell(): void {
    if (this.#failures.length > 0) throw this.#failures[0]
  }

  /** Ends it, after every erasure that was begun has been acknowledged. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#workers)
    this.assertWell()
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

  /** Somebody who does not care for budgets. */
  async #beGreedy(): Promise<void> {
    const answer = await this.caller.ask(subjectsPath, { from: '192.0.2.1' })
    assert.ok(answer === null || [200, 429, 500].includes(answer.status))
  }

  /** Erases a subject, by one or several requests concurrently, again and again until one is acknowledged. */
  async #erase(): Promise<void> {
    const subjectId = this.#doomed.pop() ?? this.#random.pick(this.erased)
    let [reported, isUnsure] = [this.erased.includes(subjectId) ? 1 : 0, false]
    for (;;) {
      const requests = Array.from({ length: 1 + this.#random.integer(3) }, () =>
        this.caller.ask(subjectPath(subjectId), { method: 'DELETE' }),
      )
      const answers = await Promise.all(requests)
      const acknowledged = answers.filter((answer) => answer?.status === 200)
      reported += acknowledged.filter((answer) => answer !== null && reports(answer)).length
      isUnsure ||= acknowledged.length < answers.length
      if (acknowledged.length > 0) break
      await delay(50)
    }
    assert.ok(reported === 1 || (reported === 0 && isUnsure), `${reported} erasures reported the counts`)
    this.erased.push(subjectId)
  }
}

/** Whether an erasure tells what it deleted: all of the subject, or it was nothing. */
function reports(answer: Answer): boolean {
  const { alreadyErased, counts: deleted } = dataOf(answer)
  assert.deepEqual(deleted, alreadyErased === true ? { sessions: 0, events: 0 } : counts)
  return alreadyErased === false
}
