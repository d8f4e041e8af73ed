import { connect, createServer, type Socket } from 'node:net'
import { listen } from '../../support/listen.ts'
import type { Lifetime } from '../../support/service.ts'

/** An address that leads to a server, and to another one after a failover, like that of a load balancer. */
interface Relay {
  url: string
  /** Leads to another server. Closes open connections. */
  leadTo(url: string): void
}

/** Opens an address that leads to the same server as `url`. */
export async function openRelay(t: Lifetime, url: string): Promise<Relay> {
  let target = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const onward = connect({ host: target.hostname, port: Number(target.port) })
    for (const [socket, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  function cutOff(): void {
    for (const socket of sockets) socket.destroy()
  }
  const port = await listen(server)
  t.after(() => {
    cutOff()
    server.close()
  })
  const own = new URL(url)
  own.port = String(port)
  return {
    url: own.href,
    leadTo(next) {
      target = new URL(next)
      cutOff()
    },
  }
}
