import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { bundleForPages } from '../../scripts/packaging/make-client.ts'
import type { Lifetime } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startVariableShop } from '../support/variable-shop.ts'
import { assertAccessible } from './accessible.ts'
import { noBrowser, openBrowser } from './browser.ts'

/** Serves the example and its script from a separate origin. */
async function serveExample(t: Lifetime): Promise<string> {
  const folder = temporaryFolder(t)
  await bundleForPages(folder)
  const files: Record<string, [type: string, content: Buffer]> = {
    '/examples/variables.html': [
      'text/html',
      readFileSync(new URL('../../examples/variables.html', import.meta.url)),
    ],
    '/dist/client/browser/variables.js': [
      'text/javascript',
      readFileSync(join(folder, 'browser/variables.js')),
    ],
  }
  const server = createServer((request, response) => {
    const [type, content] = files[request.url ?? ''] ?? []
    response.writeHead(type ? 200 : 404, { 'Content-Type': type ?? 'text/plain' }).end(content)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

test('examples/variables.html shows variables from another origin, and follows their changes', {
  skip: noBrowser,
}, async (t) => {
  const theme = { 'shop.theme': { accent: 'rgb(1, 2, 3)' } }
  const first = { 'shop.banner': '<b>Sale</b>', 'shop.discount': 0.1, 'checkout.express': true, ...theme }
  const shop = await startVariableShop(t, first)
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  page.setDefaultTimeout(30_000)
  const complaints: string[] = []
  const statuses: number[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('response', (response) => {
    if (response.url().startsWith(shop.url)) statuses.push(response.status())
  })
  const told = new URLSearchParams({ url: shop.url, token: shop.token, refreshSeconds: '0.2' })
  await page.goto(`${await serveExample(t)}/examples/variables.html#${told}`)
  const shown = async (status: string | RegExp) => {
    await page.locator('#status').filter({ hasText: status }).waitFor()
    const [banner, price] = await Promise.all(['#banner', '#price'].map((id) => page.innerText(id)))
    return [banner, price, await page.isVisible('#express')]
  }

  assert.deepEqual(await shown('Version 1'), ['<b>Sale</b>', '18.00 €', true])
  const accent = await page.$eval('#banner', (element) => getComputedStyle(element).borderLeftColor)
  assert.equal(accent, 'rgb(1, 2, 3)')
  await assertAccessible(page, 'example')
  await page.waitForResponse((response) => response.status() === 304)

  await shop.set({ 'shop.banner': 'Bye', 'shop.discount': 'none' })
  assert.deepEqual(await shown('Version 2'), ['Bye', '20.00 €', false])

  await shop.stop()
  assert.deepEqual(await shown(/Version 2\. No complete response/), ['Bye', '20.00 €', false])
  assert.deepEqual(complaints, [])
  assert.deepEqual([...new Set(statuses)].sort(), [200, 304])
})
