import { hash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { readAccepted } from '../../accepted-encodings.ts'
import type { HeaderList, RequestContext, Responder } from '../../request-context.ts'

/** The document in the forms in which it is sent. */
interface PackedDocument {
  plain: Buffer
  gzip: Buffer
  /** Says the same of both forms, so it is a weak one. */
  etag: string
}

export function packDocument(text: string): PackedDocument {
  return { plain: Buffer.from(text), gzip: gzipSync(text), etag: `W/"${hash('sha256', text).slice(0, 32)}"` }
}

/** Clients may keep it, and ask each time whether it is still the same. */
export function sendDocument(
  { write }: Responder,
  context: RequestContext,
  { plain, gzip, etag }: PackedDocument,
): void {
  const headers: HeaderList = [
    ...['X-Request-Id', context.id, 'X-Content-Type-Options', 'nosniff'],
    ...['Cache-Control', 'no-cache', 'ETag', etag, 'Vary', 'Accept-Encoding'],
  ]
  if (isKnown(context.request.headers['if-none-match'], etag)) {
    write(context, 304, '', headers)
    return
  }
  headers.push('Content-Type', 'application/json; charset=utf-8')
  const isPacked = readAccepted(context.request).has('gzip')
  if (isPacked) headers.push('Content-Encoding', 'gzip')
  write(context, 200, isPacked ? gzip : plain, headers)
}

/** Whether a client has it already. Tags compare weakly here, as HTTP has it. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const opaque = etag.slice(2)
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes('*') || tags.includes(opaque)
}
