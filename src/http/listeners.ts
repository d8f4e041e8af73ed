import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'

/** How many connections may wait on each, as far as the system allows. */
const backlog = 4_096

/**
 * Lets a server, with others that hand their connections to it, listen on one port. With each turn of its loop libuv accepts one
 * connection from each socket that listens, and a turn takes as long as all connections that have something to say: on one socket a
 * thousand that come at a time wait for a thousand turns.
 */
export class Listeners {
  readonly #server: Server
  readonly #count: number
  readonly #others: Server[] = []

  constructor(server: Server, count: number) {
    this.#server = server
    this.#count = count
  }

  /** Resolves with the port. Rejects when somebody else has it: of sockets that share a port the system would ask only whose they are. */
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
      // One less does no harm, as where the system has no more file handles.
      if (!(await listenOn(other, { ...free, backlog, reusePort: true }).then(isDone, isNotDone))) break
      this.#others.push(other)
    }
    return free.port
  }

  /** No new connections. Resolves when the last one has ended. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    await Promise.all([this.#server, ...this.#others].map(closed))
  }
}

const isDone = () => true
const isNotDone = () => false

/** Where to listen: the address that the host stands for, and a port that nobody has. */
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

/** Whether several sockets cannot share a port here. */
function isUnsupported(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return code === 'ENOTSUP' || code === 'ENOPROTOOPT' || code === 'EINVAL'
}
