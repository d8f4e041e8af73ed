import assert from 'node:assert/strict'
import { dataOf, errorOf } from '../../support/answers.ts'
import { type Answer, assertDocumented } from '../../support/documented.ts'
import { ask, clientAddress, type Fleet, type Server } from './fleet.ts'

/** Beyond every time-out of the service. */
const timeoutMs = 60_000

const errorCodes = { 404: 'not_found', 429: 'rate_limited', 500: 'internal_error' } as const

/** What to send; from an address that nobody else has, unless told. */
interface Call {
  method?: 'GET' | 'DELETE'
  from?: string
}

/**
 * Asks the processes of a fleet in turn, as a client behind a load balancer does, and holds every answer against what is promised of
 * answers at all times: the envelope, the request id, a status that is documented, and that it came in time.
 */
export class Caller {
  readonly #fleet: Fleet
  #calls = 0
  /** How many answers there were, by their status. */
  readonly statuses: Record<number, number> = {}
  /** How many requests were lost with the process that had them. */
  lost = 0
  longestMs = 0

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  /** Asks the next process that is not known to be dead. `null` when it was killed before it answered. */
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
