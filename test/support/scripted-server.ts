import { createServer, type Socket } from 'node:net'
import { listen } from './listen.ts'
import type { Lifetime } from './service.ts'

/** What the server does with a request: sends these bytes and closes, or runs the function. */
export type Behaviour = string | ((socket: Socket) => void)

/** A server that misbehaves on request, which the real one cannot be made to do. */
interface ScriptedServer {
  url: string
  /** The first line of each request, and its headers with lower-case names. */
  requests: { line: string; headers: Map<string, string> }[]
}

/** Handles each request with the next behaviour; the last one repeats. */
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
  const port = await listen(server)
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${port}`, requests }
}

function readHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

interface Reply {
  headers?: Record<string, string>
  /** `undefined` omits `Content-Length`, so that the body ends with the connection. */
  length?: number | undefined
}

/** A complete response as bytes. The body may be anything. */
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

/** The body of a success. */
export function success(data: unknown): string {
  return JSON.stringify({ data, meta })
}

/** A failure in the envelope. */
export function failure(status: number, code: string, headers: Record<string, string> = {}): string {
  return reply(status, JSON.stringify({ error: { code, message: `It is ${code}.` }, meta }), { headers })
}

/** Resets the connection. */
export function reset(socket: Socket): void {
  socket.resetAndDestroy()
}

export function silence(): void {}
