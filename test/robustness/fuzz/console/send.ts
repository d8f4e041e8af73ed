import type { Answer } from '../../../support/documented.ts'
import { askAll } from '../requests/ask-all.ts'
import { type ConsoleRequest, isFramed } from './console-request.ts'
import { cookies, origins } from './credentials.ts'
import type { SentBody } from './odd-body.ts'
import type { Stage } from './stage.ts'

let sent = 0

/** Sends a request and reads its answer. */
export async function send(stage: Stage, request: ConsoleRequest): Promise<Answer> {
  const text = bytesOf(request, meant(stage)).replaceAll('{{address}}', nextAddress())
  const [answer] = await askAll(stage.url, [{ text, method: request.method }])
  if (!answer) throw new Error('No answer.')
  return answer
}

/** Puts what the stage means in the place of its names. */
export function meant({ meanings }: Stage): (text: string) => string {
  return (text) => text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => meanings[name] ?? whole)
}

/** The bytes of a request, one for each character. */
function bytesOf(request: ConsoleRequest, mean: (text: string) => string): string {
  const { method, target, cookie, origin, headers, body, version } = request
  const lines = [`${method} ${mean(target)} HTTP/${version}`]
  if (!headers.some(([name]) => name.toLowerCase() === 'host')) lines.push('Host: test')
  lines.push('X-Forwarded-For: {{address}}')
  const { value = null } = cookies[cookie] ?? {}
  if (value !== null) lines.push(`Cookie: ${mean(value)}`)
  for (const [name, text] of [...(origins[origin]?.lines ?? []), ...headers]) lines.push(`${name}: ${text}`)
  const framed = isFramed(headers) ? { lines: [], bytes: body?.bytes ?? '' } : frame(body, mean)
  return `${[...lines, ...framed.lines].join('\r\n')}\r\n\r\n${framed.bytes}`
}

function frame(body: SentBody | null, mean: (text: string) => string): { lines: string[]; bytes: string } {
  if (body === null) return { lines: [], bytes: '' }
  const bytes = mean(body.bytes)
  const lines = body.type === null ? [] : [`Content-Type: ${body.type}`]
  if (!body.isChunked) return { lines: [...lines, `Content-Length: ${bytes.length}`], bytes }
  const chunks = [bytes.slice(0, 9), bytes.slice(9)].filter((text) => text !== '')
  const written = chunks.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`)
  return { lines: [...lines, 'Transfer-Encoding: chunked'], bytes: `${written.join('')}0\r\n\r\n` }
}

/** Every request has an address of its own, so that the budget of one is not spent by another. */
function nextAddress(): string {
  sent += 1
  return `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`
}
