import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { LetheError } from '../domain/errors.ts'
import type { AnswerWriter } from '../http/answer.ts'
import { type Asset, keptForGood, safeHeaders, sendAsset } from '../http/asset.ts'
import type { Visit } from '../http/request-way.ts'

/** Where the build of the pages lies. */
export const pagesFolder = new URL('../../console/dist/', import.meta.url)

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
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
      if (asset && name !== 'index.html') sendAsset(write, visit, asset, keptForGood)
      else if (index && !name.startsWith('assets/')) sendAsset(write, visit, index, 'no-store')
      else throw new LetheError('not_found', 'There is no such page. The console is built by npm start.')
    },
    redirect(visit: Visit): void {
      write(visit, 302, '', [...safeHeaders(visit), 'Cache-Control', 'no-store', 'Location', '/console'])
    },
  }
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
    const compressed: Asset['compressed'][number][] = []
    if (br) compressed.push({ encoding: 'br', bytes: br })
    if (gzip) compressed.push({ encoding: 'gzip', bytes: gzip })
    assets.set(file.replaceAll('\\', '/'), { type, plain, compressed })
  }
  return assets
}
