import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { AnswerWriter } from '../answer.ts'
import { type Asset, keptForGood, sendAsset } from '../asset.ts'
import type { Visit, WayParts } from '../request-way.ts'
import type { Json } from './json.ts'
import { referencePage } from './page.ts'

const types = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }

/** The API reference: a page and its three files, made once and kept in memory. */
export function reference(document: Json, budgets: WayParts['budgets'], { write }: AnswerWriter) {
  const style = file(
    '/docs/reference.css',
    'css',
    ['tokens.css', 'layout.css', 'parts.css'].map(read).join('\n'),
  )
  const script = file('/docs/reference.js', 'js', read('reference.js'))
  const icon = file('/docs/icon.svg', 'svg', read('icon.svg'))
  const addresses = { style: style.address, script: script.address, icon: icon.address }
  const page = asset('html', referencePage(document, budgets, addresses))
  return [
    { path: '/docs', respond: (visit: Visit) => sendAsset(write, visit, page, 'no-store') },
    ...[style, script, icon].map(({ path, address, content }) => ({
      path,
      // Asked for by another address, as by the page of another version, it may not be kept under that.
      respond: (visit: Visit) =>
        sendAsset(write, visit, content, visit.request.url === address ? keptForGood : 'no-store'),
    })),
  ]
}

function read(name: string): string {
  return readFileSync(new URL(`./${name}`, import.meta.url), 'utf8')
}

/** A file under an address that changes with what is in it. */
function file(path: string, type: keyof typeof types, text: string) {
  const version = createHash('sha256').update(text).digest('hex').slice(0, 10)
  return { path, address: `${path}?v=${version}`, content: asset(type, text) }
}

function asset(type: keyof typeof types, text: string): Asset {
  // The best there is would take fifteen times as long, at every start, to save a few hundred bytes more.
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }
  return {
    type: type === 'svg' ? types.svg : `${types[type]}; charset=utf-8`,
    plain: Buffer.from(text),
    compressed: [
      { encoding: 'br', bytes: brotliCompressSync(text, quality) },
      { encoding: 'gzip', bytes: gzipSync(text) },
    ],
  }
}
