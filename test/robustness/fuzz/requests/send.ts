import assert from 'node:assert/strict'
import type { Answer } from '../../../support/documented.ts'
import { openRawConnection } from '../../../support/raw-http.ts'
import { type GeneratedRequest, isFramed } from './generated-request.ts'
import { chunked, type SentBody } from './odd-parts.ts'
import type { Surface } from './surface.ts'

let sent = 0

/** Replaces the names in a text with the values of a surface. */
export function resolveNames({ meanings }: Surface, text: string): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => meanings[name] ?? whole)
}

/** The bytes of a request, one per character. Each has its own client address, and so its own budget. */
export function bytesOf(surface: Surface, request: GeneratedRequest): string {
  const { method, target, sender, origin, headers, body, version } = request
  sent += 1
  const lines = [`${method} ${target} HTTP/${version}`]
  if (!headers.some(([name]) => name.toLowerCase() === 'host')) lines.push('Host: test')
  lines.push(`X-Forwarded-For: 10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`)
  const credentials = [surface.senders[sender], surface.origins[origin]].flatMap((each) => each?.lines ?? [])
  for (const [name, value] of [...credentials, ...headers]) lines.push(`${name}: ${value}`)
  const head = resolveNames(surface, lines.join('\r\n'))
  if (isFramed(headers)) return `${head}\r\n\r\n${body?.bytes ?? ''}`
  return `${head}\r\n${framed(body, (text) => resolveNames(surface, text))}`
}

function framed(body: SentBody | null, mean: (text: string) => string): string {
  if (body === null) return '\r\n'
  const bytes = mean(body.bytes)
  const type = body.type === null ? '' : `Content-Type: ${body.type}\r\n`
  if (body.isChunked) return `${type}Transfer-Encoding: chunked\r\n\r\n${chunked(bytes)}`
  return `${type}Content-Length: ${bytes.length}\r\n\r\n${bytes}`
}

/** The bytes of a request, and the method, which the parsing of its answer depends on. */
interface RequestBytes {
  text: string
  method: string
}

/**
 * Pipelines requests and reads all answers. If the server closes, the rest is sent on a new connection. A
 * close may lose answers, so a request without one is sent again alone, and must then be answered.
 */
export async function askAll(url: string, requests: readonly RequestBytes[]): Promise<Answer[]> {
  const answers: Answer[] = []
  let isAlone = false
  while (answers.length < requests.length) {
    const before = answers.length
    const some = requests.slice(before, isAlone ? before + 1 : requests.length)
    const connection = await openRawConnection(url)
    connection.send(some.map(({ text }) => text).join(''))
    for (const { method } of some) {
      const answer = await connection.answerOrEnd(method)
      if (answer === null) break
      answers.push(answer)
      if (answer.headers.get('connection') === 'close') break
    }
    connection.hangUp()
    const gotNone = answers.length === before
    assert.ok(!gotNone || !isAlone, 'the server closed without an answer')
    isAlone = gotNone
  }
  return answers
}

/** Sends a text, closes the connection for sending, and reads all answers until the server closes. */
export async function readUntilClosed(url: string, text: string): Promise<Answer[]> {
  const connection = await openRawConnection(url)
  connection.send(text)
  connection.finish()
  const answers: Answer[] = []
  for (;;) {
    const answer = await connection.answerOrEnd()
    if (answer === null) return answers
    answers.push(answer)
  }
}
