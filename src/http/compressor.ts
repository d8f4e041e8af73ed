import type { Transform } from 'node:stream'

/** How many bytes may wait for compression, so that the producer need not wait for each piece. */
const maxWaitingBytes = 256 * 1024

/** Compresses a stream of bytes on zlib's threads, and passes the result on as fast as it is taken. */
export class Compressor {
  readonly #transform: Transform
  readonly #done: Promise<void>
  #failure: unknown
  /** Rejects the current write: the callback of a stream that was destroyed is not always called. */
  #rejectWrite: (error: unknown) => void = () => {}

  constructor(transform: Transform, take: (piece: Buffer) => Promise<void>) {
    this.#transform = transform
    // The next `write` or `end` reports the error.
    transform.on('error', () => {})
    this.#done = this.#passOn(take)
    this.#done.catch(() => {})
  }

  /** Resolves when more may be written. Rejects with the error of `take` if there was one. */
  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#rejectWrite = reject
      this.#transform.write(bytes, (error) => (error ? reject(this.#failure ?? error) : resolve()))
      if (this.#transform.writableLength <= maxWaitingBytes) resolve()
    })
  }

  /** Resolves when everything has been taken. */
  async end(): Promise<void> {
    this.#transform.end()
    await this.#done
  }

  /** Discards what was not taken yet. Resolves when nothing more will be. */
  async abandon(): Promise<void> {
    this.#transform.destroy()
    await this.#done.catch(() => {})
  }

  async #passOn(take: (piece: Buffer) => Promise<void>): Promise<void> {
    try {
      for await (const piece of this.#transform.iterator({ destroyOnReturn: false })) await take(piece)
    } catch (error) {
      this.#failure = error
      this.#transform.destroy()
      this.#rejectWrite(error)
      throw error
    }
  }
}
