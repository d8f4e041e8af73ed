import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { noBrowser, openBrowser, openPage } from './browser.ts'

describe('a running list in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client, { timezoneId: 'Europe/Berlin' })
  const startedAt = Date.UTC(2026, 10, 18, 12, 0, 0)
  const pace = page.locator('.job-pace')

  test('shows its rate and remaining time once they are known, and when it pauses', async () => {
    const nothing = { subjects: 0, sessions: 0, events: 0 }
    const group = {
      ...{ reference: 'List', startable: 0, access: 0, found: nothing, erased: nothing },
      ...{ firstReceivedAt: new Date(startedAt).toISOString(), closedAt: null },
    }
    let resumesAt: string | null = null
    await page.clock.install({ time: startedAt })
    const now = () => page.evaluate(() => Date.now())
    // Ten requests a second by the clock of the page.
    await page.route('**/console/api/request-groups?*', async (route) => {
      const done = Math.min(2_000, Math.floor(((await now()) - startedAt) / 100))
      const counts = { open: 0, running: 2_000 - done, done, rejected: 0, cancelled: 0 }
      await route.fulfill({ json: { data: { ...group, counts, resumesAt } } })
    })
    await page.goto('/console/requests/group?reference=List')
    await page.getByRole('heading', { name: /of 2,000 requests closed/ }).waitFor()
    assert.equal(await pace.innerText(), '', 'nothing while it is unknown')
    for (let second = 0; second < 20; second++) await page.clock.runFor(1_000)
    await pace.getByText(/^(9(\.\d)?|1[01](\.\d)?) per second · about 3 minutes left$/).waitFor()
    await assertAccessible(page, 'a running list')
    resumesAt = new Date(startedAt + 65 * 60_000).toISOString()
    await page.clock.runFor(2_000)
    await pace.getByText('Waiting for the erasure budget until 14:05').waitFor()
    resumesAt = null
    await page.clock.runFor(2_000)
    await pace.getByText('Waiting').waitFor({ state: 'detached' })
    assert.equal(await pace.innerText(), '', 'the rest is not part of the rate')
    // A response in progress needs the page.
    await page.unrouteAll({ behavior: 'wait' })
    assert.deepEqual(complaints, [])
  })
})
