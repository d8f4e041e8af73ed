import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { LetheError } from '../domain/errors.ts'
import type { AnswerWriter } from '../http/answer.ts'
import type { HeaderList } from '../http/headers.ts'
import type { Visit } from '../http/request-way.ts'

/** Where the build of the pages lies. */
export const pagesFolder = new URL('../../console/dist/', import.meta.url)

/** Nothing but what comes from here, no inline script or style, no frame around it, no text that becomes markup. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** A file of the pages, with the forms that a build has made of it to save the wire. */
interface Asset {
  type: string
  plain: Buffer
  compressed: { encoding: 'br' | 'gzip'; bytes: Buffer }[]
}

/** Answers with the pages. They are read once, at the start: nothing a request says leads to a file. */
export function pages({ write }: AnswerWriter, folder = pagesFolder) {
  const assets = readAssets(folder)
  const index = assets.get('index.html')
  return {
    /** A file that was built, or the page itself: it finds out from the path what to show. */
    show(visit: Visit): void {
      const name = visit.params['*'] ?? ''
      const asset = assets.get(name)
      if (asset && name !== 'index.html') send(visit, asset, 'public, max-age=31536000, immutable')
      else if (index && !name.startsWith('assets/')) send(visit, index, 'no-store')
      else throw new LetheError('not_found', 'There is no such page. The console is built by npm start.')
    },
    redirect(visit: Visit): void {
      write(visit, 302, '', [...safeHeaders(visit), 'Cache-Control', 'no-store', 'Location', '/console'])
    },
  }

  function send(visit: Visit, { type, plain, compressed }: Asset, caching: string): void {
    const accepted = readAccepted(visit.request.headers['accept-encoding'])
    const form = compressed.find(({ encoding }) => accepted.has(encoding))
    const headers = [
      ...safeHeaders(visit),
      'Cache-Control',
      caching,
      'Content-Type',
      type,
      'Vary',
      'Accept-Encoding',
    ]
    if (form) headers.push('Content-Encoding', form.encoding)
    write(visit, 200, form?.bytes ?? plain, headers)
  }
}

/** The encodings a browser can read; one with the weight 0 is one it cannot. */
function readAccepted(header: string | string[] = ''): Set<string> {
  const parts = String(header).split(',')
  const weighted = parts.map((part) => part.trim().split(/\s*;\s*q=/))
  return new Set(weighted.filter(([, weight = '1']) => Number(weight) > 0).map(([name = '']) => name))
}

function safeHeaders({ id }: Visit): HeaderList {
  return [
    ...['X-Request-Id', id, 'Content-Security-Policy', contentSecurityPolicy],
    ...['X-Content-Type-Options', 'nosniff', 'X-Frame-Options', 'DENY', 'Referrer-Policy', 'no-referrer'],
    ...['Cross-Origin-Opener-Policy', 'same-origin', 'Cross-Origin-Resource-Policy', 'same-origin'],
    ...['Permissions-Policy', 'camera=(), geolocation=(), microphone=()'],
  ]
}

function readAssets(folder: URL): Map<string, Asset> {
  const assets = new Map<string, Asset>()
  if (!existsSync(folder)) return assets
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = types[extname(file)]
    if (type === undefined) continue
    const read = (suffix: string) => {
      const url = new URL(file.replaceAll('\\', '/') + suffix, folder)
      return existsSync(url) ? readFileSync(url) : null
    }
    const [plain, br, gzip] = [read(''), read('.br'), read('.gz')]
    if (!plain) continue
    const compressed: Asset['compressed'] = []
    if (br) compressed.push({ encoding: 'br', bytes: br })
    if (gzip) compressed.push({ encoding: 'gzip', bytes: gzip })
    assets.set(file.replaceAll('\\', '/'), { type, plain, compressed })
  }
  return assets
}
