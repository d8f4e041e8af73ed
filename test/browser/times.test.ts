import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop } from '../support/shop.ts'
import { noBrowser, openBrowser, openPage } from './browser.ts'

describe('relative times in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page } = await openPage(browser, shop, client, { timezoneId: 'Europe/Berlin' })
  const startedAt = Date.UTC(2026, 10, 18, 12, 0, 0)

  test('show how long ago it was, update as time passes, and are exact on hover and in print', async () => {
    await page.clock.install({ time: startedAt })
    await page.addInitScript(() => {
      const { setInterval, clearInterval } = globalThis
      const running = new Set<unknown>()
      Object.assign(globalThis, {
        running,
        setInterval(work: () => void, ms: number) {
          const id = setInterval(work, ms)
          // Excludes the timers of repeated requests.
          if (ms === 10_000) running.add(id)
          return id
        },
        clearInterval(id: number) {
          running.delete(id)
          clearInterval(id)
        },
      })
    })
    const at = (ms: number) => new Date(startedAt - ms).toISOString()
    const subject = (subjectId: string, ago: number) => ({
      ...{ subjectId, firstSeenAt: at(40 * 86_400_000), lastSeenAt: at(ago) },
      counts: { sessions: 1, events: 1 },
    })
    const subjects = [subject('a', 20_000), subject('b', 3 * 60_000), subject('c', 26 * 3_600_000)]
    await page.route('**/trackers/shop/subjects?*', (route) =>
      route.fulfill({ json: { data: { subjects, nextCursor: null } } }),
    )
    await page.goto('/console/trackers/shop')
    const times = page.locator('tbody tr td:nth-child(2) time')
    await times.nth(2).waitFor()
    assert.deepEqual(await times.allInnerTexts(), ['just now', '3 minutes ago', '1 day ago'])
    assert.equal(await page.locator('tbody td:nth-child(3) time').first().innerText(), '9 Oct 2026')
    assert.equal(await times.nth(1).getAttribute('datetime'), '2026-11-18T11:57:00.000Z')
    assert.equal(await times.nth(1).getAttribute('title'), '18 Nov 2026, 12:57:00 · 2026-11-18 11:57:00 UTC')
    await page.clock.runFor(61_000)
    await page.getByText('4 minutes ago').waitFor()
    assert.deepEqual(await times.allInnerTexts(), ['1 minute ago', '4 minutes ago', '1 day ago'])
    assert.equal(await page.evaluate(() => Reflect.get(globalThis, 'running').size), 1)
    await page.emulateMedia({ media: 'print' })
    assert.equal(await times.nth(1).innerText(), '')
    const printed = await times.nth(1).evaluate((time) => getComputedStyle(time, '::after').content)
    assert.equal(printed, '"18 Nov 2026, 12:57:00"')
  })
})
