import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, subjectsPath } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { assertAccessible } from './accessible.ts'
import { Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('the page of a key in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'], env: { LETHE_LIMIT_IP: '4/minute' } })
  const { organisationId, key, keyId } = shop
  await shop.createKey(organisationId, ['analytics:view'], Date.now() + 3 * 86_400_000)
  await shop.createKey(organisationId, ['analytics:view'], Date.now() + 5_000)
  shop.passTime(5_000)
  for (let i = 0; i < 3; i++) await shop.ask(subjectsPath, { key })
  await shop.ask(subjectPath('anna'), { key, method: 'DELETE' })
  // Refused by the budget of the address, before the key is verified.
  await shop.ask(subjectsPath, { key })
  // The use of a key is stored every few seconds.
  await until(async () => (await shop.services.apiKeys.listDays(keyId, 0))[0]?.refusals === 2)
  const client = await openConsole(shop, organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)

  test('is marked in the list when it expires soon, and links to its page', async () => {
    await page.goto('/console/keys')
    await settled(page)
    assert.equal(await page.getByText('expires in 3 days').count(), 1)
    assert.equal(await page.getByText('expired', { exact: true }).count(), 1)
    await assertAccessible(page, 'keys')
    await keyboard.press('key-2')
    await page.getByRole('heading', { name: 'key-2', level: 1 }).waitFor()
    await settled(page)
  })

  test('describes its scopes, and shows how often it was used and refused', async () => {
    await page.getByText('Read collected analytics data').waitFor()
    const chart = page.getByRole('slider', { name: '5 requests, of which 2 refused' })
    await chart.press('ArrowLeft')
    await chart.press('ArrowRight')
    await page.locator('.chart-tip').getByText('5 requests, 2 refused').waitFor()
    await assertAccessible(page, 'a key')
  })

  test('can be renamed, and warns before a rotation that there is no overlap', async () => {
    await keyboard.choose('Actions for key-2', 'Rename')
    await keyboard.type('Name', 'privacy desk')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'privacy desk', level: 1 }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await keyboard.press('Rotate')
    await page.getByText('There is no overlap').waitFor()
    await keyboard.press('Rotate the key')
    await page.getByText('It is shown only once').waitFor()
    await keyboard.press('I have stored the key')
    await page.setViewportSize({ width: 360, height: 740 })
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(over <= 0, 'nothing is wider than a phone')
    assert.deepEqual(complaints, [])
  })
})
