import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { personAddress } from '../../src/operations/person-address.ts'
import { editVariables } from '../../src/operations/variable.ts'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { goTo, noBrowser, openBrowser, openPage, overflowOf, settled, startNavigation } from './browser.ts'
import { type Layout, layoutChanges, layoutOf, shiftOf } from './layout.ts'

// Compares boxes, not pixels, which differ between browser versions and fonts.
const file = new URL('layout.json', import.meta.url)
/** Set by `npm run layout`. */
const isWriting = process.env.LETHE_TEST_LAYOUT === 'write'

const paths = [
  '/sign-in',
  '/requests',
  '/trackers',
  '/trackers/shop',
  '/trackers/shop/subjects/anna',
  '/trackers/shop/variables',
  '/search',
  '/person',
  '/erasures',
  '/erasures/certificates/1',
  '/keys',
  '/activity',
  '/members',
  '/requests/erase-list',
  '/settings',
]
/** The first pages of the two frames are loaded; the others are opened from there. */
const loaded = ['/sign-in', '/requests']
/** Each with the smallest size that a page must also fit: the window at 200 % zoom, and a small phone. */
const screens = {
  wide: { viewport: { width: 1280, height: 860 }, smallest: { width: 640, height: 400 } },
  phone: { viewport: { width: 390, height: 844 }, smallest: { width: 360, height: 740 } },
}

describe('the layout of every page', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  await shop.ingest([
    ...visit('anna', { events: 12, attributes: { country: 'DE', browser: 'Firefox' } }),
    ...visit('ben'),
  ])
  const view = { organisationId: shop.organisationId, trackerId: 'shop', since: 0 }
  await eraseSubject(shop.services, view, 'ben')
  await editVariables(shop.services, 'shop', { apply: () => new Map([['colour', 'red']]) })
  const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')
  const person = { identifiers: [], subjects: [{ trackerId: 'shop', subjectId: 'anna' }] }
  const personFragment = personAddress(shop.services.keyring, shop.organisationId, person)
  const addressOf = (path: string) => (path === '/person' ? `${path}#${personFragment}` : path)
  const browser = await openBrowser({ after })
  const { page } = await openPage(browser, shop, client)
  const kept: Record<string, Layout> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const found: Record<string, Layout> = {}

  for (const [screen, { viewport, smallest }] of Object.entries(screens)) {
    test(`is unchanged, does not shift after rendering, and does not overflow: ${screen}`, async () => {
      await page.setViewportSize(viewport)
      const changes: Record<string, string[]> = {}
      let moved = 0
      for (const path of paths) {
        const name = `${path} ${screen}`
        if (loaded.includes(path)) {
          await page.goto(`/console${path}`)
          moved = 0
        } else await startNavigation(page, addressOf(path))
        await settled(page)
        found[name] = await layoutOf(page)
        const shift = (await shiftOf(page)) - moved
        moved += shift
        const told = layoutChanges(kept[name] ?? {}, found[name])
        if (shift > 0) told.push(`what was drawn moved by ${shift}`)
        if (told.length > 0) changes[name] = told
      }
      await page.setViewportSize(smallest)
      for (const path of paths) {
        await goTo(page, addressOf(path))
        const over = await overflowOf(page)
        assert.ok(over <= 0, `${path} ${screen} is ${over} pixels too wide`)
      }
      if (!isWriting)
        assert.deepEqual(changes, {}, 'if it is meant: npm run screenshots, a look, npm run layout')
    })
  }

  test('is reported as changed if a part is missing, squeezed or moved', () => {
    const before: Layout = { main: [248, 0, 1_000, 800], h1: [300, 40, 200, 40] }
    assert.deepEqual(layoutChanges(before, { main: [250, 0, 990, 830], h1: [300, 60, 190, 40] }), [])
    assert.deepEqual(layoutChanges(before, { main: [0, 0, 1_000, 800] }), [
      'main was at 248, 0, 1000, 800 and is at 0, 0, 1000, 800',
      'h1 is gone',
    ])
  })

  after(() => {
    // One box per line, like the formatter.
    const text = JSON.stringify(found, null, 2).replaceAll(
      /\[\s+(\d[^\]]*?)\s+\]/g,
      (_, box: string) => `[${box.replaceAll(/\s+/g, ' ')}]`,
    )
    if (isWriting) writeFileSync(file, `${text}\n`)
  })
})
