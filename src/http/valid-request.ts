import { LetheError } from '../domain/errors.ts'
import type { RequestContext } from './request-context.ts'

/** Refuses requests that are malformed, whatever their path. */
export function requireValidRequest({ request, chosenId }: RequestContext): LetheError | null {
  if (chosenId === 'unusable') {
    return new LetheError('invalid_request', 'X-Request-Id must be 1 to 200 printable ASCII characters.')
  }
  const { httpVersion, rawHeaders } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new LetheError('invalid_request', 'This server supports HTTP/1.1 and HTTP/1.0.')
  }
  if (request.headers.expect !== undefined && request.headers.expect.toLowerCase() !== '100-continue') {
    return new LetheError('invalid_request', 'The only supported value of Expect is 100-continue.')
  }
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return new LetheError('invalid_request', 'The only supported value of Transfer-Encoding is chunked.')
  }
  const hosts = countOf('host', rawHeaders)
  if (hosts > 1) return new LetheError('invalid_request', 'A request must have exactly one Host header.')
  if (hosts === 0 && httpVersion === '1.1') {
    return new LetheError('invalid_request', 'An HTTP/1.1 request must have a Host header.')
  }
  if (!validHost.test(request.headers.host ?? '')) {
    return new LetheError(
      'invalid_request',
      'The Host header must be a host name or an IP address, with or without a port.',
    )
  }
  return null
}

/** A name, an IPv4 address or an IPv6 address in brackets, and a port. HTTP allows an empty value. */
const validHost = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-fA-F:.]+\])(?::\d{0,5})?$/

/** How often a header was sent. `headers` contains only the first one. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]
    if (sent?.length === name.length && sent.toLowerCase() === name) count += 1
  }
  return count
}
