import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { isObject, listIn, objectIn, textIn } from '../support/answers.ts'
import { clientOf } from '../support/client.ts'
import { openConsole } from '../support/console.ts'
import { anHourAgo, startShop, subjectPath, visit } from '../support/shop.ts'
import { Keyboard, noBrowser, openBrowser, sitDown } from './browser.ts'

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
  const seat = await sitDown(browser, shop, client)
  const { page } = seat
  const hands = new Keyboard(page)
  const firstId = () => page.getByRole('rowheader').first().innerText()

  test('a tracker is created and renamed', async () => {
    await page.goto('/console')
    await hands.press('Create a tracker')
    await hands.type('Name', 'Blog')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Blog' }).waitFor()
    await hands.press('Rename Blog')
    await hands.type('Name', '')
    await page.keyboard.press('Enter')
    await page.getByText('Name must be 1 to 128 characters').waitFor()
    await hands.type('Name', 'Journal')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Journal' }).waitFor()
    assert.deepEqual(
      (await shop.services.trackers.list(shop.organisationId)).map(({ name }) => name),
      ['shop', 'Journal'],
    )
  })

  test('a tracker has a chart of daily totals with the retention window marked', async () => {
    const chart = page.getByRole('article', { name: 'shop' }).getByRole('img')
    assert.match(
      (await chart.getAttribute('aria-label')) ?? '',
      /^62 sessions from .* Visitors are known one by one since /,
    )
    await page.getByText('180-day window since').first().waitFor()
  })

  test('data subjects come page by page, by when they were last seen', async () => {
    await hands.press('Data subjects of shop')
    await page.getByRole('heading', { name: 'Daily totals' }).waitFor()
    await page.getByText('61 data subjects').waitFor()
    assert.equal(await firstId(), 'visitor-00')
    await hands.press('Next')
    await page.getByText('Page 2').waitFor()
    await page.getByText('visitor-25').waitFor()
    await hands.press('Previous')
    await page.getByText('visitor-00').waitFor()
    await hands.reach('Order')
    await page.keyboard.press('ArrowDown')
    await page.getByText('a/b #1?').waitFor()
    assert.equal(await firstId(), 'a/b #1?')
  })

  test('they are found by the beginning of their id', async () => {
    await hands.type('Find ids that begin with', 'visitor-5')
    await page.getByText('a/b #1?').waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('rowheader').count(), 10)
    await hands.type('Find ids that begin with', 'nobody')
    await page.getByText('No id begins with “nobody”').waitFor()
    await hands.type('Find ids that begin with', 'a/')
    await hands.press('a/b #1?')
    await page.getByRole('heading', { name: 'a/b #1?' }).waitFor()
  })

  test('one of them shows its record, its sessions, and their events in the order of time', async () => {
    await page.getByText('No events in this session').waitFor({ state: 'detached' })
    const events = page.locator('.visit[open] .events li')
    await events.first().waitFor()
    assert.equal(await events.count(), 50)
    await hands.press('Show earlier events')
    await page.getByRole('button', { name: 'Show earlier events' }).waitFor({ state: 'detached' })
    const times = await events
      .locator('time')
      .evaluateAll((all) => all.map((time) => time.getAttribute('datetime')))
    assert.equal(times.length, 60)
    assert.deepEqual(times, times.toSorted())
    await hands.press(/3 events$/)
    await page.locator('.visit[open]').nth(1).getByText('country').waitFor()
    const time = page.locator('.visit time').first()
    assert.match((await time.getAttribute('title')) ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
  })

  test('its export is downloaded', async () => {
    const coming = page.waitForEvent('download')
    await hands.press('Download an export')
    const download = await coming
    assert.match(download.suggestedFilename(), /^\S+_[0-9a-f]{8}\.json$/)
    const copy: unknown = JSON.parse(readFileSync(await download.path(), 'utf8'))
    assert.ok(isObject(copy))
    assert.equal(copy.subjectId, 'a/b #1?')
    assert.deepEqual([listIn(copy, 'sessions').length, listIn(copy, 'events').length], [2, 63])
  })

  test('it is erased once its id is typed, and what was deleted is shown', async () => {
    await hands.press('Erase')
    await hands.type(/^Type the id/, 'a/b')
    assert.equal(await page.getByRole('button', { name: 'Erase for good' }).isDisabled(), true)
    await hands.type(/^Type the id/, 'a/b #1?')
    await hands.press('Erase for good')
    await page.getByText('Deleted: 2 sessions and 63 events.').waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download the receipt' }).click()
    const receipt = readFileSync(await (await downloading).path(), 'utf8')
    const { verifierKeys } = await clientOf(shop).readLedger()
    const { record } = await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId: 'a/b #1?' })
    assert.equal((await shop.ask(subjectPath('a/b #1?'), { key: shop.key })).status, 404)
    await page.goBack()
    await page.goForward()
    await page.getByText('This is not there').waitFor()
    await hands.press('Activity')
    const row = page.getByRole('row', { name: /^Data subject erased/ })
    await row.getByText('shop · 2 sessions, 63 events').waitFor()
    const coming = page.waitForEvent('download')
    await row.getByRole('link', { name: 'Entry 0 of the ledger' }).click()
    const download = await coming
    assert.equal(download.suggestedFilename(), 'ledger-entry-0.json')
    const entry = objectIn(JSON.parse(readFileSync(await download.path(), 'utf8')), 'data')
    assert.deepEqual(JSON.parse(textIn(entry, 'record')), record, 'the receipt is of this entry')
    assert.equal((await page.content()).includes('a/b #1?'), false)
    assert.deepEqual(seat.complaints, [])
  })
})
