import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { startShop } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { Keyboard, noBrowser, openBrowser, overflowOf, sitDown } from './browser.ts'

describe('the API reference', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const browser = await openBrowser({ after })
  const { page, requested, complaints } = await sitDown(browser, shop, null, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await page.goto('/docs', { waitUntil: 'networkidle' })
  const [wide, small] = [
    { width: 1280, height: 720 },
    { width: 360, height: 740 },
  ]

  test('asks nobody else for anything, and breaks no rule of its policy', () => {
    assert.equal(new Set(requested).size, 4)
    for (const address of requested) assert.ok(address.startsWith(`${shop.url}/docs`), address)
    assert.deepEqual(complaints, [])
  })

  test('puts its own address into the examples, and hands them over', async () => {
    await new Keyboard(page).press('Copy')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    assert.ok(copied.startsWith(`export LETHE_URL=${shop.url}\n`), copied)
  })

  test('shows in the contents where one is', async () => {
    await page.goto('/docs#readSubject')
    const current = page.locator('.contents a[aria-current]')
    await current.waitFor()
    assert.equal(await current.getAttribute('href'), '#readSubject')
  })

  test('fits a small screen, with nothing beyond its edge', async () => {
    await page.setViewportSize(small)
    const over = await overflowOf(page)
    assert.ok(over <= 0, `${over} pixels too wide`)
  })

  test('opens its contents on a small screen, and closes them behind whoever goes somewhere', async () => {
    const link = contents(page).getByRole('link', { name: 'Erase a data subject, for good' })
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
    const link = contents(page).getByRole('link', { name: 'GET List the data subjects of a tracker' })
    assert.ok(await link.isVisible())
    assert.ok(await page.locator('#errors\\.rate_limited').isVisible())
    assert.equal(await page.getByRole('button').count(), 0)
  })

  test('is accessible in light and dark, wide and narrow', async () => {
    await page.setViewportSize(wide)
    await assertAccessible(page, 'all of it', { coloursAreKnown: true })
    await page.evaluate(keepOneOfEachKind)
    await assertAccessible(page, 'one of each kind')
    await page.setViewportSize(small)
    await assertAccessible(page, 'narrow', { coloursAreKnown: true })
  })

  test('has the colours that somebody chose in the console', async () => {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.evaluate(() => localStorage.setItem('lethe-theme', 'dark'))
    await page.reload()
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'dark')
  })
})

/** Where links are looked for: there are a thousand in all. */
function contents(page: Page): Locator {
  return page.locator('.contents')
}

/** Leaves of the many elements with the same tags and classes around them one each: they have the same colours. Runs in the page. */
function keepOneOfEachKind(): void {
  const kinds = new Set<string>()
  const kindOf = (element: Element | null): string =>
    element ? `${kindOf(element.parentElement)} ${element.tagName}.${element.className}` : ''
  // What holds the first of a kind stays with it.
  const kept = [...document.body.querySelectorAll('*')].filter((element) => {
    const kind = kindOf(element)
    return !kinds.has(kind) && kinds.add(kind)
  })
  const isKept = new Set(kept.flatMap((element) => ancestorsOf(element)))
  for (const element of document.body.querySelectorAll('*')) if (!isKept.has(element)) element.remove()

  function ancestorsOf(element: Element): Element[] {
    return element.parentElement ? [element, ...ancestorsOf(element.parentElement)] : [element]
  }
}
