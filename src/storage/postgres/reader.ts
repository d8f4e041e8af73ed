import type { Client } from 'pg'
import type { Settings } from './connect.ts'

/** A statement that only reads, and whoever waits for what it finds. */
export interface Read {
  /** Sends it. Resolves to what hands the answer over, should it still be wanted. */
  send(client: Client): Promise<() => void>
  reject(error: unknown): void
  /** Until when it may wait to be sent, by `performance.now()`. */
  waitsUntil: number
  /** The connection that has to answer it; `null` while it waits. */
  reader: Reader | null
  /** How often its connection broke. */
  losses: number
  /** How often it was taken off a connection on which it stood behind a slow one. */
  moves: number
}

/** How often readers are looked after. */
export const tickMs = 50
/** A reader whose answer has been waited for over so many ticks is handed no more reads. */
const stalledTicks = 3
/** The server ends a read after 5 s; a reader that is silent for longer has lost it. */
const silentTicks = 6_000 / tickMs
/** How many reads are sent behind each other: enough to keep the server busy while answers are on their way. */
const maxSent = 64
/** A read that is sent again is work done twice. */
const maxMoves = 3
const setUpTimeoutMs = 5_000

/** A connection through which reads are sent one behind the other; their answers come in the same order. */
export class Reader {
  readonly #client: Client
  #sent: Read[] = []
  #isConnected = false
  #isRetired = false
  /** Ticks since the last answer. Not time: while this process was busy itself, an answer may have come that it has not seen yet. */
  #ticks = 0

  constructor({ Client, ...config }: Settings, onLost: () => void) {
    this.#client = new Client({ ...config, pipeline: true })
    this.#client.on('error', onLost)
    this.#client.on('end', onLost)
  }

  /** `setUp` is what each connection runs first. */
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

  /** It has given away what it was sent, and nobody waits for it any more. */
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

  /** Sends a read, and resolves to what hands its answer over. */
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

  /** Hands back what waits behind the first read, to be sent elsewhere; the connection is of no more use afterwards. */
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

  /** Hands back everything that was sent, the first of them first. */
  giveUp(): Read[] {
    const given = this.#sent
    this.#sent = []
    for (const read of given) read.reader = null
    return given
  }

  /** Lets go of the connection. What it was still to answer fails as it does when a connection breaks. */
  destroy(): void {
    this.#client.connection.stream.destroy()
  }

  async end(): Promise<void> {
    if (this.#isConnected && this.#sent.length === 0 && !this.#isRetired) await this.#client.end()
    else this.destroy()
  }
}
