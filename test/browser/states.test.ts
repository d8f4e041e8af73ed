import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { Keyboard, noBrowser, openBrowser, openPage, settled, startNavigation } from './browser.ts'

/**
 * Each page with its request and a text that shows that the data arrived, before pages that share the
 * request.
 */
const pages = [
  ['/requests', '/requests?*', 'New request'],
  ['/trackers', '/trackers', 'Data subjects of shop'],
  ['/keys', '/keys', 'Actions for key-2'],
  ['/trackers/shop', '/trackers/shop/subjects?*', 'anna'],
  ['/trackers/shop/subjects/anna', '/trackers/shop/subjects/anna', 'Erase data'],
  ['/members', '/members', 'Actions for ada@acme.example'],
  ['/activity', '/activity/groups?*', 'Apply filters'],
] as const

describe('a page whose data does not load', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  await shop.ingest(visit('anna'))
  const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')
  const browser = await openBrowser({ after })
  const { page } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)
  await page.goto('/console/settings')
  await settled(page)

  for (const [path, asked, landmark] of pages) {
    test(`shows that it is loading, then the error, and retries: ${path}`, async () => {
      const refused = Promise.withResolvers<void>()
      await page.route(`**/console/api${asked}`, async (route) => {
        await refused.promise
        const error = { code: 'internal_error', message: 'Something went wrong on our side.' }
        await route.fulfill({ status: 500, json: { error, meta: { requestId: 'req-500' } } })
      })
      await startNavigation(page, path)
      await page.getByRole('status', { name: 'Loading' }).first().waitFor()
      refused.resolve()
      await page.getByText('Loading failed').first().waitFor()
      await page.getByText('req-500').first().waitFor()
      await page.unroute(`**/console/api${asked}`)
      await keyboard.press('Try again')
      await settled(page)
      await keyboard.reach(landmark)
    })
  }

  test('says so if its script cannot be loaded, and reloads the page', async () => {
    await page.goto('/console/search')
    await settled(page)
    await page.route('**/more-pages-*.js', (route) => route.abort())
    await keyboard.press('API keys')
    await page.getByText('Loading failed').waitFor()
    await page.unroute('**/more-pages-*.js')
    await keyboard.press('Try again')
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
  })

  test('says so if the server cannot be reached', async () => {
    await page.goto('/console/keys')
    await settled(page)
    await page.context().setOffline(true)
    await keyboard.press('Members')
    await page.getByText('The server cannot be reached.').waitFor()
    await page.context().setOffline(false)
    await keyboard.press('Try again')
    await page.getByText('ada@acme.example').first().waitFor()
  })
})
