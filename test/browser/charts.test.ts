import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

const dayMs = 86_400_000
const noon = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2
const daysAgo = (days: number) => noon - days * dayMs
const written = (days: number) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(daysAgo(days))

describe('the charts of a tracker in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  // The last 7 days: 3 sessions and 3 events. The 7 days before: 2 sessions and 6 events.
  await shop.ingest([
    ...['a', 'b', 'c'].flatMap((id) => visit(id, { startedAt: daysAgo(2) })),
    ...['d', 'e'].flatMap((id) => visit(id, { startedAt: daysAgo(9), events: 3 })),
  ])
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client, { hasTouch: true })
  const tip = page.locator('.chart-tip')
  const slider = page.getByRole('slider')

  /** The point in the middle of the bar of a day. */
  async function barAt(days: number, shownDays: number): Promise<{ x: number; y: number }> {
    const box = await page.locator('.days-bars').boundingBox()
    assert.ok(box)
    return { x: box.x + ((shownDays - days - 0.5) / shownDays) * box.width, y: box.y + box.height / 2 }
  }

  test('show the totals of the period and the change since the period before', async () => {
    await page.goto('/console/trackers/shop')
    await settled(page)
    await page.getByRole('radio', { name: 'Sessions 5 no data before' }).waitFor()
    await page.getByLabel('7 days').check()
    await page.getByRole('radio', { name: 'Sessions 3 up 50%' }).waitFor()
    await page.getByRole('radio', { name: 'Events 3 down 50%' }).waitFor()
    assert.deepEqual(await page.locator('.change').allInnerTexts(), ['▲\nup\n50%', '▼\ndown\n50%'])
    await page.getByText(`Compared with`).waitFor()
    assert.match(page.url(), /days=7$/)
    await page.reload()
    await page.getByRole('radio', { name: 'Sessions 3 up 50%' }).waitFor()
    await assertAccessible(page, 'totals with a comparison')
  })

  test('show a tooltip at the bar under the mouse, within the chart, until the mouse leaves', async () => {
    const { x, y } = await barAt(2, 7)
    await page.mouse.move(x, y)
    await tip.waitFor()
    assert.deepEqual((await tip.innerText()).split('\n'), [
      written(2),
      '3 sessions',
      '▲',
      'up',
      `50% from 2 on ${written(9)}`,
    ])
    const plot = await page.locator('.days-bars').boundingBox()
    for (const days of [6, 0]) {
      const { x, y } = await barAt(days, 7)
      await page.mouse.move(x, y)
      await tip.getByText(written(days)).waitFor()
      const box = await tip.boundingBox()
      assert.ok(plot && box && box.x >= plot.x && box.x + box.width <= plot.x + plot.width)
    }
    assert.match(await tip.innerText(), new RegExp(`^${written(0)}, so far\\n0 sessions`))
    await assertAccessible(page, 'a tooltip')
    await page.mouse.move(0, 0)
    await tip.waitFor({ state: 'detached' })
  })

  test('show the tooltip by keyboard, with the same text for screen readers', async () => {
    await slider.focus()
    await tip.getByText('so far').waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await tip.getByText('3 sessions').waitFor()
    assert.equal(
      await slider.getAttribute('aria-valuetext'),
      `${written(2)}: 3 sessions, up 50% from 2 on ${written(9)}`,
    )
    await page.keyboard.press('Home')
    await tip.getByText(written(6)).waitFor()
    await page.keyboard.press('Escape')
    await tip.waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowRight')
    await tip.waitFor()
    await page.keyboard.press('Tab')
    await tip.waitFor({ state: 'detached' })
  })

  test('show the tooltip by touch until something else is touched', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await settled(page)
    await page.locator('.days-bars').scrollIntoViewIfNeeded()
    const { x, y } = await barAt(2, 7)
    await page.touchscreen.tap(x, y)
    await tip.getByText('3 sessions').waitFor()
    assert.ok((await overflowOf(page)) <= 0, 'nothing is wider than a phone')
    await page.getByRole('heading', { level: 1 }).tap()
    await tip.waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  test('combine days into weeks for a year', async () => {
    await page.getByLabel('12 months').check()
    await page.getByRole('slider', { name: /^5 sessions from / }).waitFor()
    assert.equal(await slider.getAttribute('max'), '52')
    await slider.press('End')
    await tip.getByText(/^\d.* – .*, so far$|^\d.*–.*, so far$/).waitFor()
    await page.getByLabel('30 days').check()
    await page.getByRole('slider', { name: /^5 sessions from / }).waitFor()
  })

  test('are small in the list of trackers, labelled and described', async () => {
    await goTo(page, '/trackers')
    const spark = page.getByRole('img', {
      name: `5 sessions in the last 30 days, no data before; most on ${written(2)}: 3`,
    })
    await spark.waitFor()
    assert.equal(await spark.locator('rect.bar').count(), 30)
    await page.getByText('Sessions, last 30 days').waitFor()
    await assertAccessible(page, 'sparklines')
    assert.deepEqual(complaints, [])
  })
})
