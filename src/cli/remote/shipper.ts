import { counted } from '../progress.ts'
import { pause, type Refusal, type ShipDelivery } from './ship-delivery.ts'
import type { FilePosition } from './ship-file.ts'
import { type CutLine, LineCutter, type LineStart, ShipBatch } from './ship-lines.ts'
import type { ShipSource } from './ship-source.ts'
import { appendWhole } from './whole-file.ts'

interface ShipperDeps {
  source: ShipSource
  delivery: ShipDelivery
  /** Makes a position durable. */
  save(position: FilePosition): Promise<void>
  stop: AbortSignal
  tell(message: string): void
}

interface ShipperOptions {
  maxLineBytes: number
  /** How long a line waits for others. */
  intervalMs: number
  /** How often to look for new lines. */
  pollMs: number
  /** Ends when everything was sent. */
  isOnce: boolean
  /** The file for refused lines. */
  rejects: string | null
}

/** How many refused lines of a batch are reported. */
const maxReports = 100

/** Reads lines from a source and delivers them in batches, one after the other. */
export class Shipper {
  readonly #deps: ShipperDeps
  readonly #options: ShipperOptions
  #cutter: LineCutter
  #batch = new ShipBatch()
  /** When the first line of the batch was added. */
  #batchAt = 0

  constructor(deps: ShipperDeps, options: ShipperOptions) {
    this.#deps = deps
    this.#options = options
    this.#cutter = new LineCutter(options.maxLineBytes, deps.source.start)
  }

  /** Runs until the input ends, until everything was sent if that is enough, or until stopped. */
  async run(): Promise<void> {
    const { source, stop } = this.#deps
    // From now on, nothing is missed, even if the file is rotated before the first batch is stored.
    if (source.start.offset === 0) await this.#save(source.start)
    while (!stop.aborted && (await this.#step()));
    const { lines } = this.#batch
    if (!stop.aborted || lines.length === 0 || source.isRereadable) return
    if (!(await this.#flush()))
      throw new Error(`Stopped before the last ${counted(lines.length, 'line')} of ${source.name} were sent.`)
  }

  /** Handles the next piece. Returns whether there may be more. */
  async #step(): Promise<boolean> {
    const piece = await this.#deps.source.read()
    if (piece.type === 'bytes') return this.#add(this.#cutter.add(piece.bytes))
    if (piece.type === 'end') return this.#endFile(piece.isLineOver)
    return this.#rest(piece.isComplete)
  }

  async #add(lines: Iterable<CutLine>): Promise<boolean> {
    for (const line of lines) {
      if (!this.#batch.hasRoomFor(line) && !(await this.#flush())) return false
      if (this.#batch.end === null) this.#batchAt = performance.now()
      this.#batch.add(line)
    }
    return true
  }

  async #endFile(isLineOver: boolean): Promise<boolean> {
    const { source } = this.#deps
    const last = isLineOver ? this.#cutter.finish() : null
    if (last !== null && !(await this.#add([last]))) return false
    const lines = this.#batch.end?.lines ?? this.#cutter.start.lines
    if (!(await this.#flush())) return false
    const start = await source.next(lines)
    if (start === null) return false
    this.#cutter = new LineCutter(this.#options.maxLineBytes, start)
    await this.#save(start)
    return true
  }

  /** Nothing to read: sends lines that have waited long enough, and waits. */
  async #rest(isComplete: boolean): Promise<boolean> {
    const { stop, tell, source } = this.#deps
    const { isOnce, intervalMs, pollMs } = this.#options
    const isLast = isOnce && isComplete
    const isDue = isLast || performance.now() - this.#batchAt >= intervalMs
    if (isDue && !(await this.#flush())) return false
    if (isLast) {
      if (this.#cutter.openBytes > 0) tell(`The last line of ${source.name} is incomplete and was not sent.`)
      return false
    }
    await pause(pollMs, stop)
    return true
  }

  /** Delivers the batch and saves where it ends. Returns `false` if stopped before. */
  async #flush(): Promise<boolean> {
    const { delivery } = this.#deps
    const { lines, unusable, end } = this.#batch
    if (end === null) return true
    const refused = await delivery.deliver(lines)
    if (refused === null) return false
    delivery.totals.lines += unusable.length
    delivery.totals.refused += unusable.length
    await this.#report([...unusable.map((line) => ({ line, message: line.problem ?? '' })), ...refused])
    await this.#save(end)
    this.#batch = new ShipBatch()
    return true
  }

  async #save(at: LineStart): Promise<void> {
    const position = this.#deps.source.position(at)
    if (position !== null) await this.#deps.save(position)
  }

  async #report(refusals: Refusal[]): Promise<void> {
    const { tell, source } = this.#deps
    const { rejects } = this.#options
    if (refusals.length === 0) return
    refusals.sort((a, b) => a.line.number - b.line.number)
    for (const { line, message } of refusals.slice(0, maxReports))
      tell(`${source.name}:${line.number}: ${message}`)
    const others = refusals.length - maxReports
    if (others > 0) tell(`${source.name}: ${counted(others, 'more line')} refused in the same batch`)
    if (rejects === null) return
    const lineFeed = Buffer.from('\n')
    const contents = refusals.map(({ line }) => line.content).filter((content) => content.length > 0)
    await appendWhole(rejects, [Buffer.concat(contents.flatMap((content) => [content, lineFeed]))])
  }
}
