import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('a tracker in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)

  test('is created, explains how to import data, and shows the data when it arrives', async () => {
    await page.goto('/console/trackers')
    await settled(page)
    await keyboard.press('Create a tracker')
    await keyboard.type('Name', 'Blog')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Blog', level: 1 }).waitFor()
    const command = await page.getByLabel('Command', { exact: true }).inputValue()
    const [, trackerId] = /^npx lethe import visits\.ndjson --tracker (\S+)$/.exec(command) ?? []
    assert.ok(trackerId)
    await shop.ingest(visit('anna', { trackerId, events: 3, startedAt: Date.now() }))
    await page.getByText('Events by name').waitFor()
    const chart = page.getByRole('slider', { name: '1 session in 90 days' })
    await chart.press('ArrowLeft')
    await chart.press('ArrowRight')
    await page.getByText(/: 1 session$/).waitFor()
    await keyboard.press('Events by name')
    await page.getByRole('meter', { name: 'Events named pageview' }).waitFor()
  })

  test('has a choice of periods, kept in the address, and shows where the retention window starts', async () => {
    assert.equal(await page.getByText('window', { exact: true }).count(), 0)
    await page.getByLabel('1 year').check()
    await page.getByText('window', { exact: true }).waitFor()
    assert.match(page.url(), /days=365/)
    await page.getByLabel('Events', { exact: true }).check()
    await page.getByRole('slider', { name: '3 events in 365 days' }).waitFor()
    await page.setViewportSize({ width: 360, height: 740 })
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(over <= 0, 'nothing is wider than a phone')
  })

  test('is renamed, once the name is valid', async () => {
    await keyboard.press('Rename')
    await keyboard.type('Name', '')
    await page.keyboard.press('Enter')
    await page.getByText('Name must be 1 to 128 characters').waitFor()
    await keyboard.type('Name', 'Journal')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Journal' }).waitFor()
    const trackers = await shop.services.trackers.list(shop.organisationId)
    assert.deepEqual(
      trackers.map(({ name }) => name),
      ['shop', 'Journal'],
    )
  })

  test('is deleted once its name is typed', async () => {
    await keyboard.press('Delete')
    await keyboard.type(/^Type the tracker’s name/, 'journal')
    assert.equal(await page.getByRole('button', { name: 'Delete the tracker' }).isDisabled(), true)
    await keyboard.type(/^Type the tracker’s name/, 'Journal')
    await keyboard.press('Delete the tracker')
    await page.getByRole('heading', { name: 'Trackers', level: 1 }).waitFor()
    await settled(page)
    assert.equal(await page.getByRole('link', { name: 'Journal', exact: true }).count(), 0)
    assert.equal((await shop.services.trackers.list(shop.organisationId)).length, 1)
    assert.deepEqual(complaints, [])
  })
})
