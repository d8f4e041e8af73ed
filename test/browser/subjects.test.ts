import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { isObject, listIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { anHourAgo, startShop, subjectPath, visit } from '../support/shop.ts'
import { Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('trackers and data subjects in a browser, by keyboard alone', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  await shop.ingest([
    ...Array.from({ length: 60 }, (_, i) =>
      visit(`visitor-${String(i).padStart(2, '0')}`, { startedAt: anHourAgo - i * 60_000, events: 2 }),
    ).flat(),
    ...visit('a/b #1?', {
      sessionId: 's1',
      startedAt: anHourAgo - 90_000_000,
      events: 3,
      attributes: { country: 'DE' },
    }),
    ...visit('a/b #1?', { sessionId: 's2', startedAt: anHourAgo - 80_000_000, events: 60 }),
  ])
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, client)
  const { page } = seat
  const keyboard = new Keyboard(page)
  const firstId = () => page.getByRole('rowheader').first().innerText()

  test('a tracker has a chart of the sessions of the last 30 days', async () => {
    await page.goto('/console/trackers')
    await settled(page)
    const chart = page.getByRole('article', { name: 'shop' }).getByRole('img')
    assert.match((await chart.getAttribute('aria-label')) ?? '', /^62 sessions in the last 30 days, /)
  })

  test('data subjects are listed page by page, by last activity', async () => {
    await keyboard.press('Data subjects of shop')
    await page.getByRole('heading', { name: 'Daily totals' }).waitFor()
    await page.getByText('61 data subjects').waitFor()
    assert.equal(await firstId(), 'visitor-00')
    await keyboard.press('Next')
    await page.getByText('Page 2').waitFor()
    await page.getByText('visitor-25').waitFor()
    await keyboard.press('Previous')
    await page.getByText('visitor-00').waitFor()
    await keyboard.reach('Sort by')
    await page.keyboard.press('ArrowDown')
    await page.getByText('a/b #1?').waitFor()
    assert.equal(await firstId(), 'a/b #1?')
  })

  test('they are filtered by the start of their ID', async () => {
    await keyboard.type('ID prefix', 'visitor-5')
    await page.getByText('a/b #1?').waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('rowheader').count(), 10)
    await keyboard.type('ID prefix', 'nobody')
    await page.getByText('No ID starts with “nobody”').waitFor()
    await keyboard.type('ID prefix', 'a/')
    await keyboard.press('a/b #1?')
    await page.getByRole('heading', { name: 'a/b #1?' }).waitFor()
  })

  test('the page of a data subject shows its details, its days and its events by session', async () => {
    await settled(page)
    assert.equal(await page.title(), 'a/b #1? · shop · Lethe')
    const lines = page.getByRole('list', { name: 'Sessions and events' }).getByRole('listitem')
    await lines.first().waitFor()
    // The first line is the day.
    assert.match(await lines.nth(1).innerText(), /60 events/)
    const times = await page
      .locator('.event-line time')
      .evaluateAll((all) => all.map((time) => time.getAttribute('datetime')))
    assert.deepEqual(times, times.toSorted().reverse())
    await page.getByText('No earlier events.').scrollIntoViewIfNeeded()
    await page.locator('.session-line', { hasText: 'DE' }).waitFor()
    const time = page.locator('.event-line time').last()
    assert.match((await time.getAttribute('title')) ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    await page.getByRole('img', { name: /^Active on [12] days? from / }).waitFor()
    await page.getByText('All data expires (without new activity)').waitFor()
  })

  test('an event shows all its properties when opened', async () => {
    await page.locator('.event-line').last().press('Enter')
    const dialog = page.getByRole('dialog', { name: 'pageview' })
    await dialog.getByText('s1-1').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  test('an export is downloaded', async () => {
    const coming = page.waitForEvent('download')
    await keyboard.press('Download export')
    const download = await coming
    assert.match(download.suggestedFilename(), /^\S+_[0-9a-f]{8}\.json$/)
    const copy: unknown = JSON.parse(readFileSync(await download.path(), 'utf8'))
    assert.ok(isObject(copy))
    assert.equal(copy.subjectId, 'a/b #1?')
    assert.deepEqual([listIn(copy, 'sessions').length, listIn(copy, 'events').length], [2, 63])
  })

  test('a data subject is erased after its ID is typed, which opens its request', async () => {
    await keyboard.press('Erase data')
    await page.getByText('2 sessions and 63 events are deleted from shop.').waitFor()
    await keyboard.type(/^Type the ID/, 'a/b')
    assert.equal(await page.getByRole('button', { name: 'Erase for good' }).isDisabled(), true)
    await keyboard.type(/^Type the ID/, 'a/b #1?')
    await keyboard.press('Erase for good')
    await page.getByText('Closed in time').waitFor()
    assert.match(new URL(page.url()).pathname, /^\/console\/requests\/[0-9a-f-]{36}$/)
    assert.equal((await shop.ask(subjectPath('a/b #1?'), { key: shop.key })).status, 404)
  })

  test('nothing in the browser identifies the erased person', async () => {
    await page.goBack()
    await page.goForward()
    await page.getByText('Closed in time').waitFor()
    assert.equal((await page.content()).includes('a/b #1?'), false)
    await keyboard.press('Activity')
    await page.getByRole('row', { name: /^Data subject erased/ }).waitFor()
    assert.equal((await page.content()).includes('a/b #1?'), false)
    assert.deepEqual(seat.complaints, [])
  })
})
