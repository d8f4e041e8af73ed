import { extname } from 'node:path'
import { LetheError } from '../../domain/errors.ts'
import { type ProgramFolder, programFolder } from '../../runtime/program-files.ts'
import { type Asset, immutable, safeHeaders, sendAsset } from '../asset.ts'
import type { Route } from '../request-context.ts'
import { definePage } from '../route.ts'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The console's pages, read once at start: no request determines a file path. */
export function pageRoutes(folder = programFolder('console/dist')): Route[] {
  const assets = readAssets(folder)
  const index = assets.get('index.html')
  /** A built file, or the HTML page, whose script shows the page for the path. */
  const show = (path: string) =>
    definePage(path, ({ http: { respond }, context }) => {
      const name = context.match.params['*'] ?? ''
      const asset = assets.get(name)
      if (asset && name !== 'index.html') sendAsset(respond, context, asset, immutable)
      else if (index && !name.startsWith('assets/')) sendAsset(respond, context, index, 'no-store')
      else
        throw new LetheError(
          'not_found',
          'This page does not exist. If the console is not built, run npm start.',
        )
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

function readAssets(folder: ProgramFolder): Map<string, Asset> {
  const assets = new Map<string, Asset>()
  const names = new Set(folder.names())
  for (const name of names) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const read = (suffix: string) => (names.has(name + suffix) ? folder.read(name + suffix) : null)
    const [br, gzip] = [read('.br'), read('.gz')]
    const compressed: Asset['compressed'][number][] = []
    if (br) compressed.push({ encoding: 'br', bytes: br })
    if (gzip) compressed.push({ encoding: 'gzip', bytes: gzip })
    assets.set(name, { type, plain: folder.read(name), compressed })
  }
  return assets
}
