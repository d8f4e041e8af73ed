import type { IncomingMessage } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { HeaderList, RequestContext, Responder } from './request-context.ts'

/** Only resources of this origin, no inline scripts or styles, no frames, no markup from text. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** `Cache-Control` of a file whose address changes with its content. */
export const immutable = 'public, max-age=31536000, immutable'

/** A file for browsers, with its compressed forms, the smallest first. */
export interface Asset {
  type: string
  plain: Buffer
  compressed: readonly { encoding: 'br' | 'gzip'; bytes: Buffer }[]
}

export function textAsset(type: string, text: string | Buffer): Asset {
  // The maximum quality takes fifteen times as long and saves only a few hundred bytes.
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }
  return {
    type,
    plain: Buffer.from(text),
    compressed: [
      { encoding: 'br', bytes: brotliCompressSync(text, quality) },
      { encoding: 'gzip', bytes: gzipSync(text) },
    ],
  }
}

/** Sends a file in the smallest form that the browser accepts. */
export function sendAsset(
  { write }: Responder,
  context: RequestContext,
  { type, plain, compressed }: Asset,
  caching: string,
  policy = contentSecurityPolicy,
): void {
  const accepted = readAccepted(context.request)
  const form = compressed.find(({ encoding }) => accepted.has(encoding))
  const headers = [
    ...safeHeaders(context, policy),
    'Cache-Control',
    caching,
    'Content-Type',
    type,
    'Vary',
    'Accept-Encoding',
  ]
  if (form) headers.push('Content-Encoding', form.encoding)
  write(context, 200, form?.bytes ?? plain, headers)
}

/** The headers of every response that a browser can display. */
export function safeHeaders({ id }: RequestContext, policy = contentSecurityPolicy): HeaderList {
  return [
    ...['X-Request-Id', id, 'Content-Security-Policy', policy],
    ...['X-Content-Type-Options', 'nosniff', 'X-Frame-Options', 'DENY', 'Referrer-Policy', 'no-referrer'],
    ...['Cross-Origin-Opener-Policy', 'same-origin', 'Cross-Origin-Resource-Policy', 'same-origin'],
    ...['Permissions-Policy', 'camera=(), geolocation=(), microphone=()'],
  ]
}

/** Whether the client has the version with this tag, without its `W/`. HTTP requires a weak comparison. */
export function isKnown({ headers }: IncomingMessage, tag: string): boolean {
  const known = headers['if-none-match']
  if (known === undefined) return false
  if (known === tag) return true
  const tags = known.split(',').map((each) => each.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(tag)
}

const none: ReadonlyMap<string, number> = new Map()

/** The accepted encodings with their weights. Without an `Accept-Encoding` header, there are none. */
export function readAccepted({ headers }: IncomingMessage): ReadonlyMap<string, number> {
  const accepted = headers['accept-encoding']
  if (accepted === undefined) return none
  const weighted = String(accepted)
    .split(',')
    .map((part) =>
      part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*q=/),
    )
    .map(([name = '', weight = '1']) => [name, Number(weight)] as const)
  return new Map(weighted.filter(([, weight]) => weight > 0))
}

/** The offered encoding that the client prefers, the first of equals; `null` if it accepts none of them. */
export function preferredOf<Encoding extends string>(
  request: IncomingMessage,
  offered: readonly Encoding[],
): Encoding | null {
  const accepted = readAccepted(request)
  let best: Encoding | null = null
  for (const encoding of offered) {
    const weight = accepted.get(encoding) ?? 0
    if (weight > (best === null ? 0 : (accepted.get(best) ?? 0))) best = encoding
  }
  return best
}
