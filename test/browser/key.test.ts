import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, subjectsPath } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { assertAccessible } from './accessible.ts'
import { Keyboard, noBrowser, openBrowser, settled, sitDown } from './browser.ts'

describe('the page of a key in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'], env: { LETHE_LIMIT_IP: '4/minute' } })
  const { organisationId, key, keyId } = shop
  await shop.createKey(organisationId, ['analytics:view'], Date.now() + 3 * 86_400_000)
  await shop.createKey(organisationId, ['analytics:view'], Date.now() + 5_000)
  shop.passTime(5_000)
  for (let i = 0; i < 3; i++) await shop.ask(subjectsPath, { key })
  await shop.ask(subjectPath('anna'), { key, method: 'DELETE' })
  // By the budget of its address, before the key is known.
  await shop.ask(subjectsPath, { key })
  // What it is used for is stored every few seconds.
  await until(async () => (await shop.services.apiKeys.listDays(keyId, 0))[0]?.refusals === 2)
  const client = await openConsole(shop, organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await sitDown(browser, shop, client)
  const hands = new Keyboard(page)

  test('stands out in the list when it soon expires, and leads to its page', async () => {
    await page.goto('/console/keys')
    await settled(page)
    assert.equal(await page.getByText('expires in 3 days').count(), 1)
    assert.equal(await page.getByText('expired', { exact: true }).count(), 1)
    await assertAccessible(page, 'keys')
    await hands.press('key-2')
    await page.getByRole('heading', { name: 'key-2', level: 1 }).waitFor()
    await settled(page)
  })

  test('tells in words what it may do, and how often it was used and refused', async () => {
    await page.getByText('Read collected analytics data').waitFor()
    const chart = page.getByRole('slider', { name: '5 requests, of which 2 refused' })
    await chart.press('ArrowLeft')
    await chart.press('ArrowRight')
    await page.getByText(/: 5 requests, 2 refused$/).waitFor()
    await assertAccessible(page, 'a key')
  })

  test('is renamed there, and says before a rotation that there is no time in which both strings work', async () => {
    await hands.press('Rename')
    await hands.type('Name', 'privacy desk')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'privacy desk', level: 1 }).waitFor()
    await hands.press('Rotate')
    await page.getByText('There is no overlap').waitFor()
    await hands.press('Rotate the key')
    await page.getByText('It is shown only once').waitFor()
    await hands.press('I have stored the key')
    await page.setViewportSize({ width: 360, height: 740 })
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(over <= 0, 'nothing is wider than a phone')
    assert.deepEqual(complaints, [])
  })
})
