import { hash } from 'node:crypto'
import { type Logo, maxLogoBytes } from '../domain/organisation-profile.ts'
import { isPng, rewritePng } from './rewrite-png.ts'
import { sanitiseSvg } from './sanitise-svg.ts'
import { UnusableLogo } from './unusable-logo.ts'

export interface ReadLogo {
  logo: Logo
  /** The names of parts of an SVG that were removed. */
  removed: readonly string[]
}

/** Rewrites an SVG or a PNG file as an image that is safe to show. Throws `UnusableLogo` for any other. */
export async function readLogo(bytes: Buffer): Promise<ReadLogo> {
  if (bytes.length > maxLogoBytes) throw new UnusableLogo('is larger than 64 KiB')
  if (isPng(bytes)) {
    const { bytes: image, ...size } = await rewritePng(bytes)
    return { logo: toLogo('image/png', image, size), removed: [] }
  }
  const { text, removed, width, height } = sanitiseSvg(decode(bytes))
  return { logo: toLogo('image/svg+xml', Buffer.from(text), { width, height }), removed }
}

function toLogo(type: Logo['type'], image: Buffer, size: { width: number; height: number }): Logo {
  return { type, ...size, digest: hash('sha256', image, 'hex'), image: image.toString('base64') }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Buffer): string {
  try {
    const text = utf8.decode(bytes)
    if (/^\s*</.test(text)) return text
  } catch {
    // Not text.
  }
  throw new UnusableLogo('is neither an SVG image in UTF-8 nor a PNG image')
}
