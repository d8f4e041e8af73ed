import type { Batch } from './api.ts'
import { ApiError, UnexpectedAnswerError } from './errors.ts'
import type { Answer } from './exchange.ts'
import type { IngestLine } from './ingest-line.ts'
import { LineQueue } from './line-queue.ts'
import { Listeners } from './listeners.ts'
import { onBeforeExit, onSignals } from './process-events.ts'
import type { Runtime } from './runtime.ts'
import { SendSchedule } from './send-schedule.ts'
import {
  type DroppedLines,
  queueLimits,
  type RefusedLines,
  type SenderCounts,
  type SenderOptions,
  type TrackedEvent,
  type TrackedSession,
} from './sender-options.ts'

interface SenderDeps {
  runtime: Runtime
  /** Sends NDJSON once. */
  send(text: string, signal: AbortSignal): Promise<Answer & { data: Batch }>
}

const defaultTimeoutMs = 10_000
/** How often a batch is sent that is rejected as a whole: a body that arrived too slowly is, too. */
const maxRejections = 3

/**
 * Sends events and sessions in the background, in batches, one at a time and in order, until `close()`.
 * `track` never throws and never waits.
 */
export class Sender {
  readonly #deps: SenderDeps
  readonly #schedule: SendSchedule
  readonly #queue: LineQueue
  readonly #errorListeners = new Listeners<Error>()
  readonly #refusedListeners = new Listeners<RefusedLines>()
  readonly #droppedListeners = new Listeners<DroppedLines>()
  readonly #stop = new AbortController()
  readonly #removeExitListener: () => void
  /** Those who wait until as many lines have been settled. */
  readonly #flushes = new Set<{ target: number; over: AbortController }>()
  readonly #counts = { delivered: 0, refused: 0, dropped: 0 }
  #accepted = 0
  #settled = 0
  /** The sizes of the next batches, after one was rejected. The others are as large as batches get. */
  readonly #sizes: number[] = []
  /** How often the first batch was rejected. */
  #rejections = 0
  #isWorking = false
  /** The current pause, and whether a full batch ends it. */
  #pausing: { end: AbortController; isForLines: boolean } | null = null
  /** The lines that were dropped and not reported yet. */
  #overflow = 0
  #closing: Promise<boolean> | null = null

  constructor(deps: SenderDeps, options: SenderOptions) {
    const { onError, onRefused, onDropped, flushSeconds = 5 } = options
    if (typeof onError !== 'function') throw new TypeError('onError must be a function.')
    if (!(flushSeconds >= 0)) throw new RangeError('flushSeconds must be 0 or more.')
    this.#deps = deps
    this.#schedule = new SendSchedule(deps.runtime, flushSeconds * 1_000)
    this.#queue = new LineQueue(queueLimits(options))
    this.#errorListeners.add(onError)
    if (onRefused) this.#refusedListeners.add(onRefused)
    if (onDropped) this.#droppedListeners.add(onDropped)
    this.#removeExitListener = onBeforeExit(() => void this.close())
  }

  /** What became of the lines so far. */
  get counts(): SenderCounts {
    const { delivered, refused, dropped } = this.#counts
    return { waiting: this.#queue.length, delivered, refused, dropped: dropped + this.#overflow }
  }

  /** Sends an event soon. Returns whether it was accepted: not if the queue is full or the sender closed. */
  track({ eventId, occurredAt, ...event }: TrackedEvent): boolean {
    const id = eventId ?? this.#deps.runtime.randomUUID?.() ?? crypto.randomUUID()
    return this.#add({ type: 'event', ...event, eventId: id, occurredAt: occurredAt ?? this.#timestamp() })
  }

  /** Sends a session soon. Returns whether it was accepted. */
  trackSession({ startedAt, ...session }: TrackedSession): boolean {
    return this.#add({ type: 'session', ...session, startedAt: startedAt ?? this.#timestamp() })
  }

  /**
   * Sends everything now. Resolves to whether the service has answered for every line tracked before, at the
   * latest after `timeoutMs`; 10,000 if omitted. Never rejects.
   */
  async flush({ timeoutMs = defaultTimeoutMs }: { timeoutMs?: number | undefined } = {}): Promise<boolean> {
    if (this.#settled === this.#accepted) return true
    if (this.#stop.signal.aborted) return false
    const flush = { target: this.#accepted, over: new AbortController() }
    this.#flushes.add(flush)
    this.#schedule.retryNow()
    this.#endPause()
    await this.#deps.runtime.wait(timeoutMs, flush.over.signal).catch(() => {})
    this.#flushes.delete(flush)
    this.#endPause()
    return this.#settled >= flush.target
  }

  /**
   * Accepts no more lines, and sends the rest. Lines that are not delivered within `timeoutMs` (10,000 if
   * omitted) are dropped. Resolves to whether there were none. Never rejects.
   */
  close(options: { timeoutMs?: number | undefined } = {}): Promise<boolean> {
    this.#closing ??= this.#close(options)
    return this.#closing
  }

  /**
   * Closes the sender on SIGTERM and SIGINT, or the given signals. Then the signal ends the process, unless
   * the program handles it itself. Returns how to stop this.
   */
  closeOnSignals(signals: readonly string[] = ['SIGTERM', 'SIGINT']): () => void {
    return onSignals(signals, () => this.close())
  }

  async #close(options: { timeoutMs?: number | undefined }): Promise<boolean> {
    this.#removeExitListener()
    const isDelivered = await this.flush(options)
    this.#stop.abort()
    this.#endPause()
    this.#reportOverflow()
    const count = this.#queue.length
    if (count > 0) {
      this.#queue.remove(count)
      this.#drop(count, 'closed')
    }
    return isDelivered
  }

  #timestamp(): string {
    return new Date(this.#deps.runtime.now()).toISOString()
  }

  #add(line: IngestLine): boolean {
    if (this.#closing !== null) {
      this.#drop(1, 'closed')
      return false
    }
    const text = encode(line)
    const problem = text === null ? 'not_json' : this.#queue.push(text)
    if (problem === 'full') this.#overflow += 1
    else if (problem !== null) this.#refuse({ line, message: problems[problem] })
    if (problem !== null) return false
    this.#accepted += 1
    if (this.#queue.length === 1) this.#schedule.begin()
    if (!this.#isWorking) void this.#work()
    else if (this.#pausing?.isForLines && this.#queue.hasFullBatch) this.#endPause()
    return true
  }

  /** Runs until the queue is empty. */
  async #work(): Promise<void> {
    this.#isWorking = true
    while (this.#queue.length > 0 && !this.#stop.signal.aborted) {
      const isDue = this.#queue.hasFullBatch || this.#sizes.length > 0 || this.#flushes.size > 0
      const pauseMs = this.#schedule.pauseMs(isDue)
      if (pauseMs > 0) await this.#pause(pauseMs, !isDue)
      else await this.#sendBatch()
    }
    this.#isWorking = false
  }

  async #pause(ms: number, isForLines: boolean): Promise<void> {
    const end = new AbortController()
    this.#pausing = { end, isForLines }
    // Only a caller who waits for a flush keeps the process running.
    const isBackground = this.#flushes.size === 0
    await this.#deps.runtime.wait(ms, end.signal, { isBackground }).catch(() => {})
    this.#pausing = null
  }

  #endPause(): void {
    this.#pausing?.end.abort()
  }

  async #sendBatch(): Promise<void> {
    const { lines, text } = this.#queue.first(this.#sizes[0])
    try {
      const { data, meta, budgets } = await this.#deps.send(text, this.#stop.signal)
      if (this.#stop.signal.aborted) return
      this.#schedule.succeeded(budgets)
      this.#counts.delivered += lines.length - data.refusedCount
      this.#settle(lines.length)
      if (data.refusedCount > 0) this.#reportRefused(lines, data, meta.requestId)
    } catch (error) {
      if (this.#stop.signal.aborted) return
      this.#fail(error, lines.length)
    }
    this.#reportOverflow()
  }

  /** Removes lines whose fate is known from the queue. */
  #settle(count: number): void {
    this.#queue.remove(count)
    this.#sizes.shift()
    this.#rejections = 0
    this.#settled += count
    this.#schedule.begin()
    for (const { target, over } of this.#flushes) if (this.#settled >= target) over.abort()
  }

  #fail(error: unknown, count: number): void {
    const isRejected = isRejection(error) || isTooLarge(error)
    this.#schedule.failed(error, isRejected)
    if (isRejected) this.#reject(count, isTooLarge(error) && count > 1 ? 1 : maxRejections)
    this.#errorListeners.notify(error instanceof Error ? error : new Error(String(error)))
  }

  /** Has a rejected batch sent again, then its halves. Drops a single line that is still rejected. */
  #reject(count: number, maxAttempts: number): void {
    this.#sizes[0] = count
    this.#rejections += 1
    if (this.#rejections < maxAttempts) return
    if (count === 1) {
      this.#settle(1)
      this.#drop(1, 'rejected')
      return
    }
    const half = Math.ceil(count / 2)
    this.#sizes.splice(0, 1, half, count - half)
    this.#rejections = 0
  }

  #reportRefused(lines: readonly string[], data: Batch, requestId: string): void {
    this.#counts.refused += data.refusedCount
    const refused = data.refused.flatMap(({ line, message }) => {
      const text = lines[line - 1]
      return text === undefined ? [] : [{ line: decode(text), message }]
    })
    this.#refusedListeners.notify({ count: data.refusedCount, lines: refused, requestId })
  }

  #refuse(refused: RefusedLines['lines'][number]): void {
    this.#counts.refused += 1
    this.#refusedListeners.notify({ count: 1, lines: [refused], requestId: null })
  }

  #drop(count: number, reason: DroppedLines['reason']): void {
    this.#counts.dropped += count
    this.#droppedListeners.notify({ count, reason })
  }

  /** Not for each line: a full queue drops thousands. */
  #reportOverflow(): void {
    const count = this.#overflow
    this.#overflow = 0
    if (count > 0) this.#drop(count, 'queue_full')
  }
}

const problems = { not_json: 'not JSON', too_long: 'longer than a batch' }

/** `null` for what JSON cannot express, such as a reference to itself. */
function encode(line: IngestLine): string | null {
  try {
    return JSON.stringify(line)
  } catch {
    return null
  }
}

function decode(text: string): IngestLine {
  return JSON.parse(text)
}

/** Whether the service rejects the batch as a whole, and not its sender. */
function isRejection(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'invalid_request' || error.code === 'validation_error')
}

/** Whether a proxy rejects the batch because of its size. */
function isTooLarge(error: unknown): boolean {
  return error instanceof UnexpectedAnswerError && error.status === 413
}
