import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Randomness } from '../domain/randomness.ts'
import { Spool } from './spool.ts'

/** How long a client may take nothing at all. */
const stallMs = 30_000

/** The client has left, or takes nothing any more. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}

/**
 * The body of an answer in the making. Whoever makes it is never kept waiting by a slow client: what that has not taken yet lies in a
 * spool.
 */
export class StreamedBody {
  readonly #response: ServerResponse
  readonly #begin: () => void
  readonly #spool: Spool
  #sending: Promise<void> | null = null
  #isGone = false

  constructor(response: ServerResponse, randomness: Randomness, begin: () => void) {
    this.#response = response
    this.#spool = new Spool(randomness)
    this.#begin = begin
    response.once('close', () => {
      this.#isGone = true
      this.#spool.end()
    })
  }

  /** Throws `ClientGone` when nobody is there to take it. */
  async add(text: string): Promise<void> {
    if (this.#isGone) throw new ClientGone()
    if (this.#sending === null) {
      this.#begin()
      this.#sending = this.#send()
      // Whoever waits for the end hears of it.
      this.#sending.catch(() => {})
    }
    await this.#spool.add(text)
  }

  /** Resolves when the client has been sent all of it. */
  async end(): Promise<void> {
    this.#spool.end()
    await this.#sending
    if (this.#isGone) throw new ClientGone()
    this.#response.end()
    await this.#spool.close()
  }

  /** Lets go of what was not sent. */
  async abandon(): Promise<void> {
    this.#isGone = true
    this.#spool.end()
    await this.#sending?.catch(() => {})
    await this.#spool.close()
  }

  async #send(): Promise<void> {
    for await (const piece of this.#spool.pieces()) {
      if (this.#isGone) return
      if (!this.#response.write(piece)) await this.#drained()
    }
  }

  async #drained(): Promise<void> {
    const response = this.#response
    const stop = new AbortController()
    const timer = setTimeout(() => response.destroy(), stallMs)
    const { signal } = stop
    const gone = once(response, 'close', { signal })
    try {
      await Promise.race([once(response, 'drain', { signal }), gone])
    } finally {
      clearTimeout(timer)
      gone.catch(() => {})
      stop.abort()
    }
  }
}
