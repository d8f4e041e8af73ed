import {
  type AddedCounts,
  ApiError,
  ClientError,
  type IngestReport,
  type LetheClient,
  systemRuntime,
  UnexpectedAnswerError,
} from '@lethe/client'
import { addCounts } from '../../domain/activity.ts'
import type { CutLine } from './ship-lines.ts'

/** What became of the lines since the command started. */
export interface ShipTotals {
  lines: number
  added: AddedCounts
  unchanged: number
  tooOld: number
  ofErased: number
  refused: number
}

/** A line that was not stored, and why. */
export interface Refusal {
  line: CutLine
  message: string
}

interface DeliveryDeps {
  client: LetheClient
  trackerId: string
  /** Ends after the attempt under way. */
  stop: AbortSignal
  /** Gives up instead of trying without end. */
  isOnce: boolean
  /** Finds all refused lines of a batch; the service names only the first 100. */
  findsAllRefused: boolean
  /** Describes an error and what to do about it. */
  describe(error: ClientError): string
  tell(message: string): void
}

const firstPauseMs = 1_000
const maxPauseMs = 30_000
/** Somebody has to act before another attempt can succeed. */
const lastingPauseMs = 60_000
/** How many temporary failures end a command that does not try without end. */
const maxFailures = 5
/** How often a single line is sent that is rejected: one that arrived too slowly is, too. */
const maxRejections = 3
/** How often the same failure is reported. */
const repeatEveryMs = 600_000

/** Delivers lines until the service has stored them. */
export class ShipDelivery {
  readonly totals: ShipTotals = {
    ...{ lines: 0, added: { subjects: 0, sessions: 0, events: 0 }, unchanged: 0, tooOld: 0 },
    ...{ ofErased: 0, refused: 0 },
  }
  readonly #deps: DeliveryDeps
  #hasSucceeded = false
  /** Before then, a budget of the service is used up. */
  #notBefore = 0
  #reported: { text: string; at: number } | null = null

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
  }

  /** Checks the key and the tracker with an empty batch. Throws if they are wrong; `false` if stopped. */
  async check(): Promise<boolean> {
    return (await this.#send([])) !== null
  }

  /** Delivers lines. Returns the refused ones; `null` if it was stopped before the others were stored. */
  async deliver(lines: readonly CutLine[]): Promise<Refusal[] | null> {
    if (lines.length === 0) return []
    const answer = await this.#send(lines)
    if (answer === null) return null
    if (answer instanceof Error) return this.#divide(lines, answer)
    this.#count(answer)
    const isComplete = answer.refusedCount <= answer.refused.length || !this.#deps.findsAllRefused
    return isComplete ? refusalsOf(lines, answer) : this.#findRefused(lines, answer)
  }

  /** The service rejects a batch as a whole: its halves may be fine, and in the end single lines. */
  async #divide(lines: readonly CutLine[], reason: Error): Promise<Refusal[] | null> {
    const [line] = lines
    if (line !== undefined && lines.length === 1) {
      this.totals.lines += 1
      this.totals.refused += 1
      return [{ line, message: reason.message }]
    }
    const middle = Math.ceil(lines.length / 2)
    const first = await this.deliver(lines.slice(0, middle))
    const second = first && (await this.deliver(lines.slice(middle)))
    return second && [...first, ...second]
  }

  /** Sends the lines after the named ones again, which changes nothing, until all refused ones are named. */
  async #findRefused(lines: readonly CutLine[], answer: IngestReport): Promise<Refusal[] | null> {
    const found: Refusal[] = []
    let rest = lines
    let last = answer
    for (;;) {
      const named = refusalsOf(rest, last)
      found.push(...named)
      const lastNamed = last.refused.at(-1)?.line ?? 0
      if (last.refusedCount <= last.refused.length || lastNamed === 0) return found
      rest = rest.slice(lastNamed)
      const next = await this.#send(rest)
      if (next === null) return null
      if (next instanceof Error) return found
      last = next
    }
  }

  /** Sends lines until they are answered. Returns why the batch is rejected as a whole, `null` if stopped. */
  async #send(lines: readonly CutLine[]): Promise<IngestReport | Error | null> {
    const { client, trackerId, stop } = this.#deps
    const text = lines.map(({ content }) => content.toString()).join('\n')
    let rejections = 0
    for (let failures = 1; ; failures++) {
      await pause(this.#notBefore - systemRuntime.now(), stop)
      try {
        const report = await client.ingest(trackerId, text)
        this.#succeed(report)
        return report
      } catch (error) {
        if (!(error instanceof ClientError)) throw error
        const isRejected = lines.length > 0 && isAboutBatch(error)
        if (isRejected && (lines.length > 1 || ++rejections >= maxRejections)) return error
        if (!isRejected) this.#fail(error, failures)
        if (stop.aborted) return null
        await pause(pauseAfter(error, failures), stop)
        if (stop.aborted) return null
      }
    }
  }

  #succeed({ pauseMs }: IngestReport): void {
    if (this.#reported !== null) this.#deps.tell('The service accepts lines again.')
    this.#reported = null
    this.#hasSucceeded = true
    this.#notBefore = systemRuntime.now() + pauseMs
  }

  /** Reports an error, or throws it if trying again is pointless. */
  #fail(error: ClientError, failures: number): void {
    const { isOnce, describe, tell } = this.#deps
    if (!error.isWorthRepeating && (isOnce || !this.#hasSucceeded)) throw error
    if (isOnce && failures >= maxFailures) throw error
    const text = describe(error)
    const now = systemRuntime.now()
    if (this.#reported?.text === text && now < this.#reported.at + repeatEveryMs) return
    this.#reported = { text, at: now }
    tell(`${text} Lines wait until then.`)
  }

  #count({ lines, added, unchanged, tooOld, ofErased, refusedCount }: IngestReport): void {
    const { totals } = this
    totals.lines += lines
    addCounts(totals.added, added)
    totals.unchanged += unchanged
    totals.tooOld += tooOld
    totals.ofErased += ofErased
    totals.refused += refusedCount
  }
}

function refusalsOf(lines: readonly CutLine[], { refused }: IngestReport): Refusal[] {
  return refused.flatMap(({ line: number, message }) => {
    const line = lines[number - 1]
    return line === undefined ? [] : [{ line, message }]
  })
}

/** Whether the service, or a proxy that limits bodies, rejects the batch and not its sender. */
function isAboutBatch(error: ClientError): boolean {
  if (error instanceof UnexpectedAnswerError) return error.status === 413
  return error instanceof ApiError && (error.code === 'invalid_request' || error.code === 'validation_error')
}

/** Random, so that shippers that failed together do not try again together. */
function pauseAfter(error: ClientError, failures: number): number {
  const doubledMs = Math.min(maxPauseMs, firstPauseMs * 2 ** (failures - 1))
  const longestMs = error.isWorthRepeating || isAboutBatch(error) ? doubledMs : lastingPauseMs
  return (error.retryAfterMs ?? 0) + longestMs * (0.5 + systemRuntime.random() / 2)
}

/** Waits, or until stopped. */
export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  if (ms > 0) await systemRuntime.wait(ms, stop).catch(() => {})
}
