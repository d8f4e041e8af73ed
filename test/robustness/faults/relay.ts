import { connect, createServer, type Socket } from 'node:net'
import { listen } from '../../support/listen.ts'
import type { Lifetime } from '../../support/service.ts'

/** An address that leads to a server, and after a failover to another, as that of a load balancer does. */
interface Relay {
  url: string
  /** From now on it leads there; open connections are cut off. */
  leadTo(url: string): void
}

/** Opens an address that leads where this one does. */
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
