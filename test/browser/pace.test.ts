import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { noBrowser, openBrowser, openPage } from './browser.ts'

describe('a running batch in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client, { timezoneId: 'Europe/Berlin' })
  const startedAt = Date.UTC(2026, 10, 18, 12, 0, 0)
  const pace = page.locator('.job-pace')

  test('shows its rate and the time left once they are known, and when it rests', async () => {
    const batch = {
      ...{ id: 'batch_1', kind: 'list', state: 'running', requestId: null, finishedAt: null, erased: null },
      ...{ startedBy: { kind: 'command-line' }, createdAt: new Date(startedAt).toISOString() },
      ...{ read: 2_000, used: 2_000, empty: 0, invalid: 0, repeated: 0, other: 0, nothing: 0, lines: 2_000 },
      ...{ subjects: 2_000, settled: 0, checkedAt: null, left: null },
    }
    let resumesAt: string | null = null
    await page.clock.install({ time: startedAt })
    const now = () => page.evaluate(() => Date.now())
    // Ten data subjects a second, by the page's own clock.
    await page.route('**/console/api/batches/batch_1', async (route) => {
      const settled = Math.min(2_000, Math.floor(((await now()) - startedAt) / 100))
      await route.fulfill({ json: { data: { ...batch, settled, resumesAt } } })
    })
    await page.goto('/console/batches/batch_1')
    await page.getByRole('heading', { name: /of 2,000 data subjects erased/ }).waitFor()
    assert.equal(await pace.innerText(), '', 'nothing while it is unknown')
    for (let second = 0; second < 20; second++) await page.clock.runFor(1_000)
    await pace.getByText(/^(9(\.\d)?|1[01](\.\d)?) per second · about 3 minutes left$/).waitFor()
    await assertAccessible(page, 'a running batch')
    resumesAt = new Date(startedAt + 65 * 60_000).toISOString()
    await page.clock.runFor(2_000)
    await pace.getByText('Waiting for the erasure budget until 14:05').waitFor()
    resumesAt = null
    await page.clock.runFor(2_000)
    await pace.getByText('Waiting').waitFor({ state: 'detached' })
    assert.equal(await pace.innerText(), '', 'the rest is not part of the rate')
    assert.deepEqual(complaints, [])
  })
})
