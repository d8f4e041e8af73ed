import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'

/** How many connections may wait on each socket, within the limit of the system. */
const backlog = 4_096

/**
 * Listens on one port with several sockets. libuv accepts one connection per listening socket and iteration
 * of the event loop, so on one socket, a thousand new connections would wait for a thousand iterations.
 */
export class Listeners {
  readonly #server: Server
  readonly #count: number
  readonly #others: Server[] = []

  constructor(server: Server, count: number) {
    this.#server = server
    this.#count = count
  }

  /** Resolves with the port. Rejects if it is in use, even by sockets of this user that allow sharing. */
  async listen(host: string, port: number): Promise<number> {
    const free = await takeFreePort(host, port)
    try {
      await listenOn(this.#server, { ...free, backlog, reusePort: true })
    } catch (error) {
      if (!isUnsupported(error)) throw error
      await listenOn(this.#server, { ...free, backlog })
      return free.port
    }
    while (this.#others.length < this.#count - 1) {
      const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
        this.#server.emit('connection', socket),
      )
      // Fewer sockets suffice, for example if there are no more file handles.
      if (!(await listenOn(other, { ...free, backlog, reusePort: true }).then(isDone, isNotDone))) break
      this.#others.push(other)
    }
    return free.port
  }

  /** Stops accepting connections. Resolves when the last one has ended. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    await Promise.all([this.#server, ...this.#others].map(closed))
  }
}

const isDone = () => true
const isNotDone = () => false

/** The address of the host, and a port that is not in use. */
async function takeFreePort(host: string, port: number): Promise<{ host: string; port: number }> {
  const probe = createServer()
  await listenOn(probe, { host, port })
  const address = probe.address()
  await closed(probe)
  if (typeof address !== 'object' || address === null) throw new Error(`${host} is not an address.`)
  return { host: address.address, port: address.port }
}

function listenOn(server: Server, options: ListenOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(options, () => {
    server.off('error', reject)
    resolve()
  })
  return promise
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}

/** Whether the system cannot share a port between sockets. */
function isUnsupported(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return code === 'ENOTSUP' || code === 'ENOPROTOOPT' || code === 'EINVAL'
}
