import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Lifetime } from './service.ts'

/** What the server does about one request: says these bytes and closes, or whatever else it likes with the connection. */
export type Behaviour = string | ((socket: Socket) => void)

/** A server that misbehaves as it is told, which the real one cannot be made to. */
export interface ScriptedServer {
  url: string
  /** The first line of each request, then its headers in lower case. */
  requests: { line: string; headers: Map<string, string> }[]
}

/** Meets each request with the next behaviour, and every one after the last with the last. */
export async function scriptedServer(
  t: Lifetime,
  ...behaviours: [Behaviour, ...Behaviour[]]
): Promise<ScriptedServer> {
  const requests: ScriptedServer['requests'] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    let head = ''
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      const [line = '', ...headers] = head.trimEnd().split('\r\n')
      head = ''
      const behaviour = behaviours[Math.min(requests.length, behaviours.length - 1)] ?? ''
      requests.push({ line, headers: new Map(headers.map(readHeader)) })
      if (typeof behaviour === 'string') socket.end(Buffer.from(behaviour))
      else behaviour(socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { url: `http://127.0.0.1:${port}`, requests }
}

function readHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

interface Reply {
  headers?: Record<string, string>
  /** `undefined` leaves the length out, so that only the end of the connection ends the body. */
  length?: number | undefined
}

/** A whole answer as bytes, with a body that may be anything. */
export function reply(status: number, body: string, { headers = {}, ...rest }: Reply = {}): string {
  const length = 'length' in rest ? rest.length : Buffer.byteLength(body)
  const lines = [
    `HTTP/1.1 ${status} Whatever`,
    'Connection: close',
    ...(length === undefined ? [] : [`Content-Length: ${length}`]),
    ...Object.entries({ 'Content-Type': 'application/json', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

const meta = { requestId: 'of-the-server', timestamp: '2026-11-15T12:00:00.000Z' }

/** The text of a success. */
export function success(data: unknown): string {
  return JSON.stringify({ data, meta })
}

/** A failure in the envelope. */
export function failure(status: number, code: string, headers: Record<string, string> = {}): string {
  return reply(status, JSON.stringify({ error: { code, message: `It is ${code}.` }, meta }), { headers })
}

/** Breaks the connection off with a reset. */
export function reset(socket: Socket): void {
  socket.resetAndDestroy()
}

/** Never answers. */
export function silence(): void {}
