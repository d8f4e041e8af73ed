import type { IncomingMessage } from 'node:http'
import { LetheError } from '../domain/errors.ts'

export const maxBodyBytes = 64 * 1024

/** Reads a request's body to its end and forgets it: no operation needs one. `invalid_request` for one that is too large or breaks off. */
export async function discardBody(request: IncomingMessage): Promise<void> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && (length === undefined || length === '0')) return
  if (Number(length) > maxBodyBytes) throw tooLarge()
  let bytes = 0
  try {
    // Leaving the loop early must not destroy the socket: the answer still has to go through it.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length
      if (bytes > maxBodyBytes) break
    }
  } catch {
    throw new LetheError('invalid_request', 'The request body broke off.')
  }
  if (bytes > maxBodyBytes) throw tooLarge()
}

function tooLarge(): LetheError {
  return new LetheError(
    'invalid_request',
    `A request body is never needed, and one over ${maxBodyBytes} bytes is refused.`,
  )
}
