import { hash } from 'node:crypto'
import { constants, crc32, deflateRawSync } from 'node:zlib'
import { isKnown, readAccepted } from '../../asset.ts'
import type { HeaderList, RequestContext, Responder } from '../../request-context.ts'
import { serversAt } from './document.ts'

/**
 * The document up to its servers, which depend on the request. Compressed once, because requests are not
 * limited.
 */
interface PackedDocument {
  plain: Buffer
  /** Deflated blocks that end at a byte boundary, so that others can follow. */
  deflated: Buffer
  checksum: number
  digest: string
}

export function packDocument({ servers: _, ...document }: Record<string, unknown>): PackedDocument {
  const plain = Buffer.from(`${JSON.stringify(document).slice(0, -1)},"servers":`)
  return {
    plain,
    deflated: deflateRawSync(plain, { finishFlush: constants.Z_FULL_FLUSH }),
    checksum: crc32(plain),
    digest: hash('sha256', plain),
  }
}

/** Sends the document. Clients must revalidate it. `serviceUrl` is the address that this client uses. */
export function sendDocument(
  { write }: Responder,
  context: RequestContext,
  document: PackedDocument,
  serviceUrl: string,
): void {
  const end = Buffer.from(`${JSON.stringify(serversAt(serviceUrl))}}`)
  // Weak, because it is the same for both encodings.
  const etag = `W/"${hash('sha256', `${document.digest} ${end}`).slice(0, 32)}"`
  const headers: HeaderList = [
    ...['X-Request-Id', context.id, 'X-Content-Type-Options', 'nosniff', 'Access-Control-Allow-Origin', '*'],
    ...['Cache-Control', 'no-cache', 'ETag', etag],
    ...['Vary', 'Accept-Encoding, X-Forwarded-Host, X-Forwarded-Proto'],
  ]
  if (isKnown(context.request, etag.slice(2))) {
    write(context, 304, '', headers)
    return
  }
  headers.push('Content-Type', 'application/json; charset=utf-8')
  const isPacked = readAccepted(context.request).has('gzip')
  if (isPacked) headers.push('Content-Encoding', 'gzip')
  write(context, 200, isPacked ? gzip(document, end) : Buffer.concat([document.plain, end]), headers)
}

/** The document as gzip (RFC 1952). Only its end is compressed for each request. */
function gzip({ plain, deflated, checksum }: PackedDocument, end: Buffer): Buffer {
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(end, checksum), 0)
  trailer.writeUInt32LE(plain.length + end.length, 4)
  return Buffer.concat([header, deflated, deflateRawSync(end), trailer])
}
