import type { IncomingMessage } from 'node:http'

const usable = /^[\x20-\x7e]{1,200}$/

/** The request id a client chose: `null` when it sent none, `'unusable'` when it cannot be used as sent. */
export type ChosenRequestId = { id: string } | 'unusable' | null

export function chosenRequestId(request: IncomingMessage): ChosenRequestId {
  const header = request.headers['x-request-id']
  if (header === undefined || header === '') return null
  return typeof header === 'string' && usable.test(header) ? { id: header } : 'unusable'
}
