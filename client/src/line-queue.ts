/** The first lines of a queue, as NDJSON. */
interface QueuedBatch {
  lines: readonly string[]
  text: string
}

export interface QueueLimits {
  maxBatchLines: number
  maxBatchBytes: number
  maxQueueLines: number
  maxQueueBytes: number
}

/** Lines that wait to be sent, in order and bounded. */
export class LineQueue {
  readonly #limits: QueueLimits
  readonly #encoder = new TextEncoder()
  #lines: { text: string; bytes: number }[] = []
  /** Lines before it were removed; they are cut off from time to time. */
  #start = 0
  #bytes = 0

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  get length(): number {
    return this.#lines.length - this.#start
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether the next batch would be as large as batches get. */
  get hasFullBatch(): boolean {
    return this.length >= this.#limits.maxBatchLines || this.#bytes >= this.#limits.maxBatchBytes
  }

  /** Adds a line, or returns why that is not possible. */
  push(text: string): 'too_long' | 'full' | null {
    const bytes = this.#encoder.encode(text).length + 1
    const { maxBatchBytes, maxQueueLines, maxQueueBytes } = this.#limits
    if (bytes > maxBatchBytes) return 'too_long'
    if (this.length >= maxQueueLines || this.#bytes + bytes > maxQueueBytes) return 'full'
    this.#lines.push({ text, bytes })
    this.#bytes += bytes
    return null
  }

  /** The first lines, as many as a batch may have, and at most `maxLines`. They stay in the queue. */
  first(maxLines = this.#limits.maxBatchLines): QueuedBatch {
    const { maxBatchBytes } = this.#limits
    const lines: string[] = []
    let bytes = 0
    for (let i = this.#start; i < this.#lines.length && lines.length < maxLines; i++) {
      const line = this.#lines[i]
      if (line === undefined || bytes + line.bytes > maxBatchBytes) break
      bytes += line.bytes
      lines.push(line.text)
    }
    return { lines, text: `${lines.join('\n')}\n` }
  }

  /** Removes the first lines. */
  remove(count: number): void {
    for (const { bytes } of this.#lines.slice(this.#start, this.#start + count)) this.#bytes -= bytes
    this.#start += count
    if (this.#start * 2 < this.#lines.length) return
    this.#lines = this.#lines.slice(this.#start)
    this.#start = 0
  }
}
