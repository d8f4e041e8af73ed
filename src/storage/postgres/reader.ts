import type { Client } from 'pg'
import type { Settings } from './connect.ts'

/** A read-only statement and the promise that waits for it. */
export interface Read {
  /** Sends it. Resolves to a function that passes the result on, if it is still wanted. */
  send(client: Client): Promise<() => void>
  reject(error: unknown): void
  /** When it is refused if it was not sent, by `performance.now()`. */
  waitsUntil: number
  /** The connection it was sent on; `null` while it waits. */
  reader: Reader | null
  /** How often its connection broke. */
  losses: number
  /** How often it was moved from a connection with a slow read. */
  moves: number
}

/** How often connections are checked. */
export const tickMs = 50
/** After this many ticks without an answer, a connection gets no more reads. */
const stalledTicks = 3
/** The server cancels a read after 5 s; a connection silent for longer has lost it. */
const silentTicks = 6_000 / tickMs
/** How many reads are pipelined: enough to keep the server busy during a round trip. */
const maxSent = 64
/** A read that is sent again is work done twice. */
const maxMoves = 3
const setUpTimeoutMs = 5_000

/** A connection on which reads are pipelined; answers arrive in the same order. */
export class Reader {
  readonly #client: Client
  #sent: Read[] = []
  #isConnected = false
  #isRetired = false
  /**
   * Ticks since the last answer. Not time: while this process was busy, an answer may have arrived unseen.
   */
  #ticks = 0

  constructor({ Client, ...config }: Settings, onLost: () => void) {
    this.#client = new Client({ ...config, pipeline: true })
    this.#client.on('error', onLost)
    this.#client.on('end', onLost)
  }

  /** `setUp` runs first on each connection. */
  async connect(setUp: string): Promise<void> {
    await this.#client.connect()
    const first = { text: setUp, query_timeout: setUpTimeoutMs }
    await this.#client.query(first)
    this.#isConnected = true
  }

  get isStalled(): boolean {
    return this.#ticks >= stalledTicks
  }

  get isSilent(): boolean {
    return this.#ticks >= silentTicks
  }

  /** It gave its reads away, and nobody waits for the rest. */
  get isOver(): boolean {
    return this.#isRetired && this.#sent.length === 0
  }

  get sent(): number {
    return this.#sent.length
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  get hasRoom(): boolean {
    return this.#isConnected && !this.#isRetired && !this.isStalled && this.#sent.length < maxSent
  }

  /** Sends a read, and resolves to a function that passes the result on. */
  async ask(read: Read): Promise<() => void> {
    read.reader = this
    this.#sent.push(read)
    try {
      return await read.send(this.#client)
    } finally {
      const place = this.#sent.indexOf(read)
      if (place !== -1) {
        this.#sent.splice(place, 1)
        this.#ticks = 0
      }
    }
  }

  tick(): void {
    if (this.#sent.length > 0) this.#ticks += 1
  }

  /**
   * Returns the reads behind the first one, to be sent on another connection. This one gets no more reads.
   */
  giveAway(): Read[] {
    const isMovable = (read: Read, place: number) => place > 0 && read.moves < maxMoves
    const given = this.#sent.filter(isMovable)
    if (given.length === 0) return []
    this.#isRetired = true
    this.#sent = this.#sent.filter((read, place) => !isMovable(read, place))
    for (const read of given) {
      read.reader = null
      read.moves += 1
    }
    return given
  }

  /** Returns all reads that were sent, oldest first. */
  giveUp(): Read[] {
    const given = this.#sent
    this.#sent = []
    for (const read of given) read.reader = null
    return given
  }

  /** Closes the connection. Pending reads fail as if it had broken. */
  destroy(): void {
    this.#client.connection.stream.destroy()
  }

  async end(): Promise<void> {
    if (this.#isConnected && this.#sent.length === 0 && !this.#isRetired) await this.#client.end()
    else this.destroy()
  }
}
