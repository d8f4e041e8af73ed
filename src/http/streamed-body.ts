import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { createGzip, createZstdCompress } from 'node:zlib'
import type { Randomness } from '../domain/randomness.ts'
import { Spool, type SpoolRoom } from './spool.ts'

/** How long a client may take nothing at all. */
const longestStallMs = 30_000

/** How much is gathered, in characters, before it is sent: each time is a call of the system, and wakes the client. */
const gatheredLength = 64 * 1024

/** How a streamed answer can be packed, what is best first. */
export const streamEncodings = ['zstd', 'gzip'] as const

export interface StreamOptions {
  randomness: Randomness
  room: SpoolRoom
  /** Sends the headers, before the first byte. */
  begin(): void
  /** How it is packed; `null` for not at all. */
  encoding: (typeof streamEncodings)[number] | null
  stallMs?: number
}

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
  readonly #options: StreamOptions
  readonly #spool: Spool
  #sending: Promise<void> | null = null
  #gathered = ''
  readonly #gone = new AbortController()

  constructor(response: ServerResponse, options: StreamOptions) {
    this.#response = response
    this.#options = options
    this.#spool = new Spool(options, () => response.destroy())
    if (response.destroyed) this.#leave()
    else response.once('close', () => this.#leave())
  }

  /** Aborted, with a `ClientGone`, when nobody is there to take it. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  get #isGone(): boolean {
    return this.#gone.signal.aborted
  }

  #leave(): void {
    this.#gone.abort(new ClientGone())
    this.#spool.end()
  }

  /** Throws `ClientGone` when nobody is there to take it. */
  async add(text: string): Promise<void> {
    if (this.#isGone) throw new ClientGone()
    this.#gathered += text
    const isFirst = this.#sending === null
    if (this.#sending === null) {
      this.#options.begin()
      this.#sending = this.#send()
      // Whoever waits for the end hears of it.
      this.#sending.catch(() => {})
    }
    if (isFirst || this.#gathered.length >= gatheredLength) await this.#passOn()
  }

  #passOn(): Promise<void> {
    const text = this.#gathered
    this.#gathered = ''
    return this.#spool.add(text)
  }

  /** Resolves when the client has been sent all of it. */
  async end(): Promise<void> {
    await this.#passOn()
    this.#spool.end()
    await this.#sending
    if (this.#isGone) throw new ClientGone()
    this.#response.end()
    await this.#spool.close()
  }

  /** Lets go of what was not sent. */
  async abandon(): Promise<void> {
    this.#leave()
    await this.#sending?.catch(() => {})
    await this.#spool.close()
  }

  async #send(): Promise<void> {
    for await (const piece of this.#packed()) {
      // What breaks off goes without the end that its encoding has.
      if (this.#isGone) return
      if (!this.#response.write(piece)) await this.#drained()
    }
  }

  /** What lies in the spool, packed as it is taken: whoever fills it does not wait for that. */
  #packed(): AsyncIterable<Buffer> {
    const { encoding } = this.#options
    if (encoding === null) return this.#spool.pieces()
    const packing = encoding === 'zstd' ? createZstdCompress() : createGzip()
    // Whoever reads the packed pieces hears of it.
    return pipeline(this.#spool.pieces(), packing, () => {})
  }

  async #drained(): Promise<void> {
    const response = this.#response
    const stop = new AbortController()
    const timer = setTimeout(() => response.destroy(), this.#options.stallMs ?? longestStallMs)
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
