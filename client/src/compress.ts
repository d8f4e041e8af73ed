import type { Bytes } from './base64.ts'

/** Smaller bodies do not get much smaller. */
const minBytes = 1_024

/** A body with the headers that describe it. */
export interface Payload {
  headers: Record<string, string>
  body: string | Bytes
}

/** Compresses a body with gzip if the runtime can do that and the body gets smaller. */
export async function compress(body: Bytes, headers: Record<string, string>): Promise<Payload> {
  if (body.length < minBytes || typeof CompressionStream === 'undefined') return { headers, body }
  const stream = new Blob([body]).stream().pipeThrough(new CompressionStream('gzip'))
  const smaller = new Uint8Array(await new Response(stream).arrayBuffer())
  if (smaller.length >= body.length) return { headers, body }
  return { headers: { ...headers, 'content-encoding': 'gzip' }, body: smaller }
}
