import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startShop } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { Keyboard, noBrowser, openBrowser, sitDown } from './browser.ts'

describe('the API reference', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const browser = await openBrowser({ after })
  const phone = { viewport: { width: 360, height: 740 }, hasTouch: true }

  test('is accessible in light and dark, wide and narrow', async () => {
    for (const [what, options] of [
      ['wide', {}],
      ['narrow', phone],
    ] as const) {
      const { page } = await sitDown(browser, shop, null, options)
      await page.goto('/docs')
      await assertAccessible(page, what, { coloursAreKnown: what === 'narrow' })
    }
  })

  test('asks nobody else for anything, and breaks no rule of its policy', async () => {
    const { page, requested, complaints } = await sitDown(browser, shop)
    await page.goto('/docs', { waitUntil: 'networkidle' })
    assert.equal(new Set(requested).size, 4)
    for (const address of requested) assert.ok(address.startsWith(`${shop.url}/docs`), address)
    assert.deepEqual(complaints, [])
  })

  test('fits a small screen, with nothing beyond its edge', async () => {
    const { page } = await sitDown(browser, shop, null, phone)
    await page.goto('/docs')
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(over <= 0, `${over} pixels too wide`)
  })

  test('opens its contents on a small screen, and closes them behind whoever goes somewhere', async () => {
    const { page } = await sitDown(browser, shop, null, phone)
    await page.goto('/docs')
    const link = page.getByRole('link', { name: 'Erase a data subject, for good' })
    assert.equal(await link.isVisible(), false)
    await page.getByText('Contents', { exact: true }).click()
    await link.click()
    assert.equal(await link.isVisible(), false)
    assert.ok(await page.locator('#eraseSubject h3').isVisible())
    assert.ok(
      await page.evaluate(
        () => (document.querySelector('#eraseSubject')?.getBoundingClientRect().top ?? 9_999) < 200,
      ),
    )
  })

  test('can be read without JavaScript, contents and all', async () => {
    const { page } = await sitDown(browser, shop, null, { javaScriptEnabled: false })
    await page.goto('/docs#errors.rate_limited')
    assert.ok(await page.getByRole('link', { name: 'GET List the data subjects of a tracker' }).isVisible())
    assert.ok(await page.locator('#errors\\.rate_limited').isVisible())
    assert.equal(await page.getByRole('button').count(), 0)
  })

  test('puts its own address into the examples, and hands them over', async () => {
    const { page } = await sitDown(browser, shop, null, {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.goto('/docs')
    await new Keyboard(page).press('Copy')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    assert.ok(copied.startsWith(`export LETHE_URL=${shop.url}\n`), copied)
  })

  test('shows in the contents where one is', async () => {
    const { page } = await sitDown(browser, shop)
    await page.goto('/docs#readSubject')
    const current = page.locator('.contents a[aria-current]')
    await current.waitFor()
    assert.equal(await current.getAttribute('href'), '#readSubject')
  })

  test('has the colours that somebody chose in the console', async () => {
    const { page } = await sitDown(browser, shop, null, { colorScheme: 'light' })
    await page.goto('/docs')
    await page.evaluate(() => localStorage.setItem('lethe-theme', 'dark'))
    await page.reload()
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'dark')
  })
})
