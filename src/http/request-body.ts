import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { LetheError } from '../domain/errors.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'

export const maxBodyBytes = 64 * 1024

/** Shorter than the server's time-out for a whole request, so that a slow body is answered as the request it belongs to. */
const bodyTimeoutMs = 20_000

const bodyCutOff = 'lethe:body-cut-off'
const cutOffs = new WeakMap<IncomingMessage, string>()

/** Tells a request that its body will not arrive whole, whether it reads it already or only later. */
export function cutOffBody(request: IncomingMessage, message: string): void {
  cutOffs.set(request, message)
  request.emit(bodyCutOff, message)
}

/** Reads a request's body to its end and forgets it: no operation of the API needs one. Refuses what `receive` refuses. */
export function discardBody(request: IncomingMessage): MaybePromise<void> {
  if (hasBody(request)) return receive(request, () => {})
}

/** The fields of a JSON object in a request's body; none without a body. Refuses what `receive` refuses. */
export async function readJson(
  request: IncomingMessage,
  maxBytes = maxBodyBytes,
): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  if (hasBody(request)) await receive(request, (chunk) => chunks.push(chunk), maxBytes)
  const bytes = Buffer.concat(chunks)
  if (bytes.length === 0) return {}
  const isJson = /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')
  const value = isJson && isUtf8(bytes) ? parse(bytes.toString()) : undefined
  if (value === undefined) {
    throw new LetheError(
      'invalid_request',
      'The body must be a JSON object in UTF-8, sent as application/json.',
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const details = [{ field: 'body', message: 'body must be a JSON object' }]
    throw new LetheError('validation_error', 'Check body: see details.', details)
  }
  return { ...value }
}

/** `undefined` for what is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  return encoding !== undefined || (length !== undefined && length !== '0')
}

/** Resolves at the end of a body. `invalid_request` for one that is too large, too slow or breaks off. */
function receive(
  request: IncomingMessage,
  onChunk: (chunk: Buffer) => void,
  maxBytes = maxBodyBytes,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const refuse = (message: string) => reject(new LetheError('invalid_request', message))
  const onTooLarge = () => refuse(`A request body over ${maxBytes} bytes is refused.`)
  let bytes = 0
  const timer = setTimeout(() => refuse('The request body took too long to arrive.'), bodyTimeoutMs)
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes) onTooLarge()
    else onChunk(chunk)
  })
  request.once('end', resolve)
  request.once('error', () => refuse('The request body broke off.'))
  request.once(bodyCutOff, refuse)
  const cutOff = cutOffs.get(request)
  if (cutOff !== undefined) refuse(cutOff)
  if (Number(request.headers['content-length']) > maxBytes) onTooLarge()
  return promise.finally(() => {
    clearTimeout(timer)
    request.removeListener(bodyCutOff, refuse)
  })
}
