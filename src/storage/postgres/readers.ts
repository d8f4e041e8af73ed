import type { Client } from 'pg'
import { tooBusy } from '../../domain/errors.ts'
import type { Settings } from './connect.ts'
import { isConnectionLost } from './failures.ts'
import { type Read, Reader, tickMs } from './reader.ts'

/** How many reads may wait to be sent, and how long. */
export const maxWaitingReads = 4_000
const waitTimeoutMs = 5_000
/** More than there are connections that may all have broken unnoticed. */
const maxLosses = 20
/** How long to wait after a failed connection attempt, while there are other connections. */
const reconnectMs = 1_000

interface Bounds {
  /** The usual number of connections. */
  usual: number
  /** The most connections while some are blocked by a slow read. */
  max: number
}

/**
 * Connections for reads. A read that is slow or waits for a lock blocks its connection: that one gets no more
 * reads, another one is opened, and the reads behind the slow one are sent again there.
 */
export class Readers {
  readonly #config: Settings
  readonly #setUp: string
  readonly #bounds: Bounds
  readonly #readers = new Set<Reader>()
  #waiting: Read[] = []
  #sparedUntil = 0
  #ticking: NodeJS.Timeout | null = null

  constructor(config: Settings, setUp: string, bounds: Bounds) {
    this.#config = config
    this.#setUp = setUp
    this.#bounds = bounds
  }

  /**
   * Sends one read-only statement; retries it if the connection was broken, as after a restart of the server.
   */
  read<Result>(ask: (client: Client) => Promise<Result>): Promise<Result> {
    if (this.#waiting.length >= maxWaitingReads) return Promise.reject(tooBusy())
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const send = (client: Client) => ask(client).then((result) => () => resolve(result))
    const waitsUntil = performance.now() + waitTimeoutMs
    this.#waiting.push({ send, reject, waitsUntil, reader: null, losses: 0, moves: 0 })
    this.#grow()
    this.#dispatch()
    this.#ticking ??= setInterval(() => this.#tick(), tickMs).unref()
    return promise
  }

  use(): { open: number; busy: number; waiting: number } {
    const readers = [...this.#readers]
    return {
      open: readers.length,
      busy: readers.filter(({ sent }) => sent > 0).length,
      waiting: this.#waiting.length,
    }
  }

  /** Call it when no reads are pending. */
  async close(): Promise<void> {
    this.#stopTicking()
    await Promise.all([...this.#readers].map((reader) => reader.end()))
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const reader = this.#leastBusy()
      if (reader === null) return
      const read = this.#waiting.shift()
      if (read) this.#send(reader, read)
    }
  }

  #leastBusy(): Reader | null {
    let least: Reader | null = null
    for (const reader of this.#readers) {
      if (reader.hasRoom && (least === null || reader.sent < least.sent)) least = reader
    }
    return least
  }

  async #send(reader: Reader, read: Read): Promise<void> {
    try {
      const answer = await reader.ask(read)
      if (read.reader === reader) answer()
    } catch (error) {
      if (isConnectionLost(error)) this.#drop(reader)
      if (read.reader === reader) this.#fail(read, error)
    }
    if (reader.isOver) this.#drop(reader)
    this.#dispatch()
  }

  #fail(read: Read, error: unknown): void {
    read.reader = null
    read.losses += 1
    if (isConnectionLost(error) && read.losses <= maxLosses) {
      this.#waiting.unshift(read)
      this.#grow()
    } else read.reject(error)
  }

  /** Opens another connection if all healthy ones are busy and there are fewer than usual. */
  #grow(): void {
    let healthy = 0
    for (const reader of this.#readers) {
      if (reader.isStalled) continue
      if (reader.isConnected && reader.sent === 0) return
      healthy += 1
    }
    const { size } = this.#readers
    const isSpared = size > 0 && performance.now() < this.#sparedUntil
    if (healthy < this.#bounds.usual && size < this.#bounds.max && !isSpared) void this.#connect()
  }

  async #connect(): Promise<void> {
    const reader = new Reader(this.#config, () => this.#drop(reader))
    this.#readers.add(reader)
    try {
      await reader.connect(this.#setUp)
      this.#dispatch()
    } catch (error) {
      this.#drop(reader)
      this.#sparedUntil = performance.now() + reconnectMs
      if (this.#readers.size > 0) return
      for (const read of this.#waiting.splice(0)) this.#fail(read, error)
    }
  }

  #drop(reader: Reader): void {
    if (this.#readers.delete(reader)) reader.destroy()
  }

  #tick(): void {
    for (const reader of this.#readers) reader.tick()
    for (const reader of [...this.#readers].filter(({ isSilent }) => isSilent)) this.#giveUp(reader)
    for (const reader of [...this.#readers].filter(({ isStalled }) => isStalled)) {
      if (this.#hasAlternative()) this.#waiting.unshift(...reader.giveAway())
    }
    this.#expire()
    if (this.#waiting.length > 0) this.#grow()
    this.#dispatch()
    if (this.#waiting.length === 0 && this.use().busy === 0) this.#stopTicking()
  }

  /** Whether another connection could answer the reads behind a slow one sooner. */
  #hasAlternative(): boolean {
    if (this.#readers.size < this.#bounds.max) return true
    for (const reader of this.#readers) if (reader.hasRoom) return true
    return false
  }

  #giveUp(reader: Reader): void {
    const [first, ...behind] = reader.giveUp()
    this.#drop(reader)
    first?.reject(new Error('PostgreSQL has not answered a read in time.'))
    this.#waiting.unshift(...behind)
  }

  /** Rejects reads that have waited too long. */
  #expire(): void {
    const now = performance.now()
    const isLate = ({ waitsUntil }: Read) => waitsUntil < now
    if (!this.#waiting.some(isLate)) return
    const late = this.#waiting.filter(isLate)
    this.#waiting = this.#waiting.filter((read) => !isLate(read))
    for (const read of late) read.reject(tooBusy())
  }

  #stopTicking(): void {
    if (this.#ticking) clearInterval(this.#ticking)
    this.#ticking = null
  }
}
