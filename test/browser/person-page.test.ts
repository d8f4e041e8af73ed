import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole, password } from '../support/console.ts'
import { anHourAgo, startShop, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, Keyboard, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

const dayMs = 86_400_000

describe('the page of a person', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  await shop.createTracker(shop.organisationId, 'weblog')
  const ada = { email: 'ada@example.com' }
  await shop.ingest([
    ...visit('laptop', { events: 12, identifiers: { ...ada, userId: '42' }, attributes: { country: 'DE' } }),
    ...visit('laptop', { sessionId: 's2', startedAt: anHourAgo - 3 * dayMs, events: 300 }),
    ...visit('reader', { trackerId: 'weblog', startedAt: anHourAgo + 2_500, events: 4, identifiers: ada }),
    ...visit('phone', { startedAt: anHourAgo - 2 * dayMs, events: 2, identifiers: { userId: '42' } }),
    ...visit('stranger', { identifiers: { userId: '8' } }),
  ])
  const client = await openConsole(shop, shop.organisationId, 'member@acme.example')
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, client)
  const { page } = seat
  const keyboard = new Keyboard(page)
  const records = () => page.locator('.record h3').allInnerTexts()
  const sessions = () => page.locator('.session-line a').allInnerTexts()

  test('opens from a search, with all records and one timeline', async () => {
    await page.goto('/console/search')
    await settled(page)
    await page.getByRole('combobox').fill('ADA@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('2 data subjects on 2 trackers').waitFor()
    await keyboard.press('Open this person')
    await page.getByRole('heading', { name: 'ada@example.com', level: 1 }).waitFor()
    await page.getByText('2 records on 2 trackers').waitFor()
    await page.locator('.event-line').first().waitFor()
    assert.deepEqual(await records(), ['laptop', 'reader'])
    // The session in the weblog began after the one in the shop, and their events alternate.
    assert.deepEqual((await sessions()).slice(0, 3), ['shop', 'weblog', 'shop'])
    await settled(page)
    await assertAccessible(page, 'a person')
  })

  test('sends the person in no request, and opens again from its address', async () => {
    const [, fragment = ''] = page.url().split('#')
    assert.match(fragment, /^[\w-]{40,}$/)
    await page.reload()
    await page.getByText('2 records on 2 trackers').waitFor()
    await settled(page)
    const asked = seat.requested.join('\n')
    assert.match(asked, /\/console\/api\/person\/timeline/)
    assert.doesNotMatch(asked.replaceAll(/#.*/gm, ''), /ada|example\.com|laptop|reader/)
    assert.ok(!asked.replaceAll(/#.*/gm, '').includes(fragment))
    assert.doesNotMatch(await page.title(), /ada/)
  })

  test('shows one tracker or the time before a day, both kept in the address', async () => {
    await page.getByLabel('Tracker').selectOption('weblog')
    await page.waitForURL(/\/console\/person\?tracker=weblog#./)
    await settled(page)
    assert.deepEqual(await sessions(), ['weblog'])
    await page.getByLabel('Tracker').selectOption('All trackers')
    const day = new Date(anHourAgo - 3 * dayMs).toISOString().slice(0, 10)
    await page.getByLabel('Activity up to').fill(day)
    await page.waitForURL(new RegExp(`/console/person\\?day=${day}#.`))
    await page.locator(`.event-line time[datetime^="${day}"]`).first().waitFor()
    await settled(page)
    assert.deepEqual(await sessions(), ['shop'])
    await keyboard.press('Show newest')
    await page.waitForURL(/\/console\/person#./)
  })

  test('includes other records that may belong to the same person, and can exclude identifiers', async () => {
    const before = page.url()
    await page.getByText('1 record with the same userId 42').waitFor()
    await keyboard.press('Include records with the same userId')
    await page.getByText('3 records on 2 trackers').waitFor()
    assert.notEqual(page.url(), before)
    assert.deepEqual((await records()).toSorted(), ['laptop', 'phone', 'reader'])
    await keyboard.press('Leave out email ada@example.com')
    await page.getByRole('heading', { name: '42', level: 1 }).waitFor()
    await page.getByText('2 records on 1 tracker').waitFor()
    await page.goBack()
    await page.goBack()
    await page.getByText('2 records on 2 trackers').waitFor()
    assert.equal(page.url(), before)
  })

  test('opens from each record, and links back to it', async () => {
    await page.getByRole('link', { name: 'reader', exact: true }).click()
    await page.waitForURL('**/console/trackers/weblog/subjects/reader')
    await settled(page)
    await keyboard.press('All data of this person')
    await page.getByText('2 records on 2 trackers').waitFor()
    await goTo(page, '/trackers/shop/subjects/phone')
    await keyboard.press('All data of this person')
    await page.getByRole('heading', { name: '42', level: 1 }).waitFor()
  })

  test('opens after signing in, and keeps its address when skipping to its content', async () => {
    const address = page.url()
    const other = await openPage(browser, shop)
    await other.page.goto(address)
    await other.page.getByLabel('E-mail address').fill('member@acme.example')
    await other.page.getByLabel('Password').fill(password)
    await other.page.keyboard.press('Enter')
    await other.page.getByRole('heading', { name: '42', level: 1 }).waitFor()
    await other.page.getByRole('link', { name: 'Skip to content' }).press('Enter')
    assert.equal(other.page.url(), address)
    assert.equal(
      await other.page.getByRole('heading', { level: 1 }).evaluate((h) => h === document.activeElement),
      true,
    )
    assert.deepEqual(other.complaints, [])
  })

  test('says so if it names nobody or its address is invalid', async () => {
    await goTo(page, '/person')
    await page.getByText('No person is chosen').waitFor()
    await assertAccessible(page, 'no person')
    await goTo(page, '/person#AAAA')
    await page.getByText('Check address').waitFor()
    const stranger = await openPage(browser, shop, await openConsole(shop, await shop.createOrganisation()))
    await stranger.page.goto('/console/person')
    await settled(stranger.page)
    assert.deepEqual(stranger.complaints, [])
  })

  test('fits a phone', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await goTo(page, '/trackers/shop/subjects/laptop')
    await page.getByRole('link', { name: 'All data of this person' }).click()
    await page.locator('.event-line').first().waitFor()
    const over = await overflowOf(page)
    assert.ok(over <= 0, `${over} pixels too wide`)
    assert.deepEqual(seat.complaints, [])
  })
})
