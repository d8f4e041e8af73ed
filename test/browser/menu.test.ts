import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, Keyboard, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

describe('a menu of less common actions in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client, { hasTouch: true })
  const keyboard = new Keyboard(page)
  const menu = page.getByRole('menu', { name: 'Actions for shop' })
  const button = page.getByRole('button', { name: 'Actions for shop' })
  const focused = () => page.evaluate(() => document.activeElement?.textContent)

  test('is opened, walked through and closed by keyboard', async () => {
    await page.goto('/console/trackers')
    await settled(page)
    await keyboard.reach('Actions for shop')
    assert.equal(await button.getAttribute('aria-haspopup'), 'menu')
    assert.equal(await button.getAttribute('aria-expanded'), 'false')
    for (const [key, first] of [
      ['Enter', 'Rename'],
      ['Space', 'Rename'],
      ['ArrowDown', 'Rename'],
      ['ArrowUp', 'Delete'],
    ] as const) {
      await page.keyboard.press(key)
      assert.equal(await focused(), first, key)
      assert.equal(await button.getAttribute('aria-expanded'), 'true')
      await page.keyboard.press('Escape')
      assert.equal(await menu.isVisible(), false)
      assert.equal(await page.evaluate(() => document.activeElement?.ariaLabel), 'Actions for shop')
    }
    await page.keyboard.press('Enter')
    for (const [key, item] of [
      ['ArrowDown', 'Delete'],
      ['ArrowDown', 'Rename'],
      ['ArrowUp', 'Delete'],
      ['Home', 'Rename'],
      ['End', 'Delete'],
      ['r', 'Rename'],
    ] as const) {
      await page.keyboard.press(key)
      assert.equal(await focused(), item, key)
    }
    await assertAccessible(page, 'an open menu')
    await page.keyboard.press('Tab')
    assert.equal(await menu.isVisible(), false)
    assert.notEqual(await page.evaluate(() => document.activeElement?.ariaLabel), 'Actions for shop')
  })

  test('returns the focus to its button after the dialog of an item', async () => {
    await keyboard.choose('Actions for shop', 'Rename')
    await page.getByRole('dialog', { name: 'Rename the tracker' }).waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await page.evaluate(() => document.activeElement?.ariaLabel), 'Actions for shop')
  })

  test('closes after an immediate click elsewhere, and stays open after an earlier scroll', async () => {
    const opens = (then: 'click' | 'scroll') =>
      button.evaluate(async (button, then) => {
        if (!(button instanceof HTMLElement)) return null
        document.body.style.minHeight = '200vh'
        if (then === 'scroll') scrollBy(0, 20)
        button.click()
        // Rendered in a microtask, before anything is painted.
        for (let turns = 0; turns < 10; turns++) await null
        if (then === 'click')
          document.querySelector('h1')?.dispatchEvent(new Event('pointerdown', { bubbles: true }))
        for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame)
        document.body.style.minHeight = ''
        return button.ariaExpanded
      }, then)
    assert.equal(await opens('click'), 'false')
    assert.equal(await opens('scroll'), 'true')
    await page.keyboard.press('Escape')
  })

  test('closes with a click elsewhere, and fits a phone', async () => {
    await button.click()
    await menu.waitFor()
    await page.getByRole('heading', { level: 1 }).click()
    await menu.waitFor({ state: 'hidden' })
    await page.setViewportSize({ width: 360, height: 740 })
    await goTo(page, '/keys')
    const last = page.getByRole('button', { name: 'Actions for key-' }).last()
    await last.tap()
    const box = await page.getByRole('menu').boundingBox()
    assert.ok(box && box.x >= 0 && box.x + box.width <= 360 && box.y + box.height <= 740)
    assert.ok((await overflowOf(page)) <= 0)
    assert.deepEqual(complaints, [])
  })
})
