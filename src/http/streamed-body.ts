import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'
import { createGzip, createZstdCompress } from 'node:zlib'
import ipaddr from 'ipaddr.js'
import { Compressor } from './compressor.ts'
import { Spool, type SpoolRoom } from './spool.ts'

/** How many characters are buffered, because each write is a system call and wakes the client. */
const bufferedLength = 64 * 1024

/** The encodings of streamed responses, best first. */
export const streamEncodings = ['zstd', 'gzip'] as const

export interface StreamOptions {
  room: SpoolRoom
  /** The organisation that the response is for. */
  owner: string | null
  /** Sends the headers, before the first byte. */
  begin(): void
  /** `null` for no compression. */
  encoding: (typeof streamEncodings)[number] | null
  /** Whether this many more bytes may be kept in memory. */
  hasMemory(bytes: number): boolean
  /** Receives the change in the number of bytes in memory. */
  onUnread(bytes: number): void
}

/** The client has disconnected or stopped reading. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}

/**
 * The body of a streamed response. A slow client does not delay the producer, because unread data waits in a
 * spool. It is compressed before, because a compressor needs more memory than the data that waits.
 */
export class StreamedBody {
  readonly #response: ServerResponse
  readonly #begin: () => void
  readonly #spool: Spool
  readonly #encoding: StreamOptions['encoding']
  readonly #gone = new AbortController()
  #compressor: Compressor | null = null
  #sending: Promise<void> | null = null
  #buffered = ''

  constructor(response: ServerResponse, { begin, encoding, onUnread, ...options }: StreamOptions) {
    this.#response = response
    this.#begin = begin
    this.#encoding = encoding
    this.#spool = new Spool({
      ...options,
      onMemory: (bytes) => this.#isGone || onUnread(bytes),
      onCutOff: () => response.destroy(),
    })
    if (response.destroyed) this.#leave()
    else response.once('close', () => this.#leave())
  }

  /** Aborted with a `ClientGone` when the client is gone. */
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

  /** Throws `ClientGone` if the client is gone. */
  async add(piece: string | Buffer): Promise<void> {
    this.#gone.signal.throwIfAborted()
    const isFirst = this.#sending === null
    if (isFirst) this.#start()
    if (typeof piece === 'string') this.#buffered += piece
    if (isFirst || this.#buffered.length >= bufferedLength || Buffer.isBuffer(piece)) await this.#flush()
    if (Buffer.isBuffer(piece)) await this.#passOn(piece)
  }

  #start(): void {
    this.#begin()
    this.#sending = this.#send()
    // `end` reports the error.
    this.#sending.catch(() => {})
    if (this.#encoding === null) return
    const transform = this.#encoding === 'zstd' ? createZstdCompress() : createGzip()
    this.#compressor = new Compressor(transform, (piece) => this.#spool.add(piece))
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#buffered)
    this.#buffered = ''
    if (bytes.length > 0) await this.#passOn(bytes)
  }

  #passOn(bytes: Buffer): Promise<void> {
    return this.#compressor?.write(bytes) ?? this.#spool.add(bytes)
  }

  /** Resolves when everything has been sent. */
  async end(): Promise<void> {
    await this.#flush()
    await this.#compressor?.end()
    this.#spool.end()
    await this.#sending
    this.#gone.signal.throwIfAborted()
    this.#response.end()
    await this.#spool.close()
  }

  /** Discards unsent data. A compressed response stays incomplete. */
  async abandon(): Promise<void> {
    this.#leave()
    await Promise.allSettled([this.#compressor?.abandon(), this.#sending])
    await this.#spool.close()
  }

  async #send(): Promise<void> {
    for await (const piece of this.#spool.pieces()) {
      if (this.#isGone) return
      await this.#sent(piece)
    }
  }

  /** Resolves when the system has accepted a piece, or the client is gone. */
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

/** Linux lists every connection here, with its addresses and the number of unacknowledged bytes. */
const files = ['/proc/self/net/tcp', '/proc/self/net/tcp6']

/**
 * The length of the send queue of each connection. Node cannot see it: the system accepts more only when a
 * third of the queue has drained, which can take a slow client minutes. Unknown on other systems, whose
 * queues are shorter.
 */
export async function readSendQueues(): Promise<(socket: Socket) => string> {
  const queues = new Map<string, string>()
  for (const text of await Promise.all(files.map(readIfExists))) {
    for (const line of text.split('\n').slice(1)) {
      const [, local, remote, , queue] = line.trim().split(/\s+/)
      if (queue !== undefined) queues.set(`${local} ${remote}`, queue.slice(0, queue.indexOf(':')))
    }
  }
  return ({ localAddress, localPort, remoteAddress, remotePort }) =>
    queues.get(`${procAddress(localAddress, localPort)} ${procAddress(remoteAddress, remotePort)}`) ?? ''
}

function readIfExists(file: string): Promise<string> {
  return readFile(file, 'latin1').catch(() => '')
}

/** An address and a port as in these files: each four bytes of an address in the host's byte order. */
function procAddress(address = '', port = 0): string {
  if (!ipaddr.isValid(address)) return ''
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray())
  if (endianness() === 'LE') bytes.swap32()
  return `${bytes.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}
