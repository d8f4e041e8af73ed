import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'
import type { Transform } from 'node:stream'
import { createGzip, createZstdCompress } from 'node:zlib'
import ipaddr from 'ipaddr.js'
import { Spool, type SpoolRoom } from './spool.ts'

/** How much is gathered, in characters, before it is sent: each time is a call of the system, and wakes the client. */
const gatheredLength = 64 * 1024

/** How many bytes may wait to be packed, so that whoever makes them need not wait for each piece. */
const maxPackedAhead = 256 * 1024

/** How a streamed answer can be packed, what is best first. */
export const streamEncodings = ['zstd', 'gzip'] as const

export interface StreamOptions {
  room: SpoolRoom
  /** Whose answer it is. */
  owner: string | null
  /** Sends the headers, before the first byte. */
  begin(): void
  /** How it is packed; `null` for not at all. */
  encoding: (typeof streamEncodings)[number] | null
  /** Whether so many bytes more may wait in memory for their clients. */
  hasMemory(bytes: number): boolean
  /** Told how many bytes more or fewer wait in memory. */
  onUnread(bytes: number): void
}

/** The client has left, or takes nothing any more. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}

/**
 * The body of an answer in the making. Whoever makes it is never kept waiting by a slow client: what that has not taken yet lies in a
 * spool, packed already, because what packs takes more memory than what waits.
 */
export class StreamedBody {
  readonly #response: ServerResponse
  readonly #begin: () => void
  readonly #spool: Spool
  readonly #packer: Transform | null
  readonly #gone = new AbortController()
  #packing: Promise<void> | null = null
  #sending: Promise<void> | null = null
  #gathered = ''

  constructor(response: ServerResponse, { begin, encoding, onUnread, ...options }: StreamOptions) {
    this.#response = response
    this.#begin = begin
    this.#packer = encoding === null ? null : encoding === 'zstd' ? createZstdCompress() : createGzip()
    this.#spool = new Spool({
      ...options,
      onMemory: (bytes) => this.#isGone || onUnread(bytes),
      onCutOff: () => response.destroy(),
    })
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
    this.#gone.signal.throwIfAborted()
    this.#gathered += text
    const isFirst = this.#sending === null
    if (isFirst) this.#start()
    if (isFirst || this.#gathered.length >= gatheredLength) await this.#passOn()
  }

  #start(): void {
    this.#begin()
    this.#sending = this.#send()
    // Whoever waits for the end hears of it.
    this.#sending.catch(() => {})
    if (this.#packer === null) return
    this.#packer.on('error', () => {})
    this.#packing = this.#pack(this.#packer)
    this.#packing.catch(() => {})
  }

  #passOn(): Promise<void> {
    const bytes = Buffer.from(this.#gathered)
    this.#gathered = ''
    const packer = this.#packer
    if (packer === null) return this.#spool.add(bytes)
    return new Promise((resolve, reject) => {
      packer.write(bytes, (error) => (error ? reject(error) : resolve()))
      if (packer.writableLength <= maxPackedAhead) resolve()
    })
  }

  async #pack(packer: Transform): Promise<void> {
    try {
      for await (const piece of packer.iterator({ destroyOnReturn: false })) await this.#spool.add(piece)
    } catch (error) {
      // Whoever adds more hears of it.
      packer.destroy(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  /** Resolves when the client has been sent all of it. */
  async end(): Promise<void> {
    await this.#passOn()
    this.#packer?.end()
    await this.#packing
    this.#spool.end()
    await this.#sending
    this.#gone.signal.throwIfAborted()
    this.#response.end()
    await this.#spool.close()
  }

  /** Lets go of what was not sent. What is packed goes without the end that its encoding has. */
  async abandon(): Promise<void> {
    this.#leave()
    this.#packer?.destroy()
    await Promise.allSettled([this.#packing, this.#sending])
    await this.#spool.close()
  }

  async #send(): Promise<void> {
    for await (const piece of this.#spool.pieces()) {
      if (this.#isGone) return
      await this.#sent(piece)
    }
  }

  /** Resolves when the system has taken a piece, or nobody is there any more. */
  #sent(piece: Buffer): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.signal.removeEventListener('abort', done)
        resolve()
      }
      this.signal.addEventListener('abort', done)
      this.#response.write(piece, done)
    })
  }
}

/** Linux lists every connection here, with its addresses and how many bytes it holds that the other side has not acknowledged. */
const files = ['/proc/self/net/tcp', '/proc/self/net/tcp6']

/**
 * How much the system holds for the client of each connection. Node cannot tell: the system takes more from it only when a third of what
 * it holds is gone, which a slow client may need minutes for. Other systems tell nothing, and hold less.
 */
export async function readSendQueues(): Promise<(socket: Socket) => string> {
  const queues = new Map<string, string>()
  for (const text of await Promise.all(files.map(readIfThere))) {
    for (const line of text.split('\n').slice(1)) {
      const [, local, remote, , queue] = line.trim().split(/\s+/)
      if (queue !== undefined) queues.set(`${local} ${remote}`, queue.slice(0, queue.indexOf(':')))
    }
  }
  return ({ localAddress, localPort, remoteAddress, remotePort }) =>
    queues.get(`${written(localAddress, localPort)} ${written(remoteAddress, remotePort)}`) ?? ''
}

function readIfThere(file: string): Promise<string> {
  return readFile(file, 'latin1').catch(() => '')
}

/** An address and a port as the lists write them: each four bytes of an address as a number of this machine. */
function written(address = '', port = 0): string {
  if (!ipaddr.isValid(address)) return ''
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray())
  if (endianness() === 'LE') bytes.swap32()
  return `${bytes.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}
