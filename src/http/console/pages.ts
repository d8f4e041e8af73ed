import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { LetheError } from '../../domain/errors.ts'
import { type Asset, keptForGood, safeHeaders, sendAsset } from '../asset.ts'
import type { Route } from '../request-context.ts'
import { definePage } from '../route.ts'

/** Where the build of the pages lies. */
export const pagesFolder = new URL('../../../console/dist/', import.meta.url)

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The console's pages. They are read once, at the start: nothing a request says leads to a file. */
export function pageRoutes(folder = pagesFolder): Route[] {
  const assets = readAssets(folder)
  const index = assets.get('index.html')
  /** A file that was built, or the page itself: it finds out from the path what to show. */
  const show = (path: string) =>
    definePage(path, ({ http: { respond }, context }) => {
      const name = context.match.params['*'] ?? ''
      const asset = assets.get(name)
      if (asset && name !== 'index.html') sendAsset(respond, context, asset, keptForGood)
      else if (index && !name.startsWith('assets/')) sendAsset(respond, context, index, 'no-store')
      else throw new LetheError('not_found', 'There is no such page. The console is built by npm start.')
    })
  return [
    definePage('/', ({ http: { respond }, context }) =>
      respond.write(context, 302, '', [
        ...safeHeaders(context),
        ...['Cache-Control', 'no-store', 'Location', '/console'],
      ]),
    ),
    show('/console'),
    show('/console/*'),
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
    const compressed: Asset['compressed'][number][] = []
    if (br) compressed.push({ encoding: 'br', bytes: br })
    if (gzip) compressed.push({ encoding: 'gzip', bytes: gzip })
    assets.set(file.replaceAll('\\', '/'), { type, plain, compressed })
  }
  return assets
}
