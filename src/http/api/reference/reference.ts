import { createHash } from 'node:crypto'
import type { ApiBudgetName, Budget } from '../../../domain/budget.ts'
import { programFolder } from '../../../program-files.ts'
import { type Asset, keptForGood, sendAsset, textAsset } from '../../asset.ts'
import { once } from '../../once.ts'
import type { Route } from '../../request-context.ts'
import { definePage } from '../../route.ts'
import type { Json } from './json.ts'
import { referencePage } from './page.ts'

const types = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }

/** The API reference: a page and its three files, made when the first of them is asked for and kept in memory. */
export function referenceRoutes(document: () => Json, budgets: Record<ApiBudgetName, Budget>): Route[] {
  const made = once(() => {
    const [own, shared] = [programFolder('src/http/api/reference'), programFolder('console/shared')]
    const style = versioned('/docs/reference.css', 'css', [
      ...['tokens.css', 'base.css'].map(shared.read),
      ...['layout.css', 'parts.css'].map(own.read),
    ])
    const script = versioned('/docs/reference.js', 'js', ['reference.js', 'try-it.js'].map(own.read))
    const icon = versioned('/docs/icon.svg', 'svg', [shared.read('icon.svg')])
    const addresses = { style: style.address, script: script.address, icon: icon.address }
    return { page: asset('html', referencePage(document(), budgets, addresses)), style, script, icon }
  })
  const file = (path: string, part: 'style' | 'script' | 'icon') =>
    definePage(path, ({ http, context }) => {
      const { address, content } = made()[part]
      // Asked for by another address, as by the page of another version, it may not be kept under that.
      const caching = context.request.url === address ? keptForGood : 'no-store'
      sendAsset(http.respond, context, content, caching)
    })
  return [
    definePage('/docs', ({ http, context }) => sendAsset(http.respond, context, made().page, 'no-store')),
    file('/docs/reference.css', 'style'),
    file('/docs/reference.js', 'script'),
    file('/docs/icon.svg', 'icon'),
  ]
}

/** A file under an address that changes with what is in it. */
function versioned(path: string, type: keyof typeof types, parts: readonly Buffer[]) {
  const text = parts.map(String).join('\n')
  const version = createHash('sha256').update(text).digest('hex').slice(0, 10)
  return { address: `${path}?v=${version}`, content: asset(type, text) }
}

function asset(type: keyof typeof types, text: string): Asset {
  return textAsset(type === 'svg' ? types.svg : `${types[type]}; charset=utf-8`, text)
}
