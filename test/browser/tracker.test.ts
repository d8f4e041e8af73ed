import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

const execute = promisify(execFile)

describe('a tracker in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)

  test('is created, explains how to send data with a key, and shows the data when it arrives', async () => {
    await page.goto('/console/trackers')
    await settled(page)
    await keyboard.press('Create a tracker')
    await keyboard.type('Name', 'Blog')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Blog', level: 1 }).waitFor()
    await page.getByText('No data subjects').waitFor()
    const importing = await page.getByLabel('Import command', { exact: true }).inputValue()
    const [, trackerId = ''] = /^npx lethe import visits\.ndjson --tracker (\S+)$/.exec(importing) ?? []
    const sending = await page.getByLabel('HTTP command', { exact: true }).inputValue()
    assert.ok(sending.includes(`'${shop.url}/v1/ingest/trackers/${trackerId}/batches'`))
    assert.ok(sending.includes('"Authorization: Bearer $LETHE_API_KEY"'))
    await keyboard.press('Create a collect-only key')
    await keyboard.type('Name', 'blog backend')
    await page.keyboard.press('Enter')
    await page.getByText('It is shown only once').waitFor()
    await assertAccessible(page, 'a collect-only key, shown once')
    const key = await page.getByLabel('Key', { exact: true }).inputValue()
    const command = await page.getByLabel('Command', { exact: true }).inputValue()
    assert.equal(
      command.replace(/"occurredAt":"[^"]+"/, ''),
      sending.replace('$LETHE_API_KEY', key).replace(/"occurredAt":"[^"]+"/, ''),
    )
    const { stdout } = await execute('bash', ['-c', command])
    assert.partialDeepStrictEqual(JSON.parse(stdout), {
      data: { trackerId, lines: 1, added: { subjects: 1, sessions: 1, events: 1 }, refused: [] },
    })
    await page.getByText('The first data has arrived').waitFor()
    await page.getByText('Waiting for data').waitFor({ state: 'detached' })
    assert.equal(await page.getByLabel('Key', { exact: true }).inputValue(), key, 'until it is stored')
    await keyboard.press('I have stored the key')
    assert.equal((await page.content()).includes(key.slice(23)), false)
    await page.getByText('1 data subject', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'visitor-1' }).waitFor()
    const [, issued] = await shop.services.apiKeys.list(shop.organisationId)
    assert.deepEqual(issued?.scopes, ['analytics:collect'])
    await shop.ingest(visit('visitor-1', { trackerId, sessionId: 's-1', events: 2, startedAt: Date.now() }))
    await page.reload()
    await page.getByText('Events by name').waitFor()
    const chart = page.getByRole('slider', { name: /^1 session from / })
    await chart.press('ArrowLeft')
    await chart.press('ArrowRight')
    await page.locator('.chart-tip').getByText('1 session', { exact: true }).waitFor()
    await keyboard.press('Events by name')
    await page.getByRole('meter', { name: 'Events named pageview' }).waitFor()
  })

  test('has a choice of periods, kept in the address, and shows where the retention window starts', async () => {
    assert.equal(await page.getByText('window', { exact: true }).count(), 0)
    await page.getByLabel('12 months').check()
    await page.getByText('window', { exact: true }).waitFor()
    assert.match(page.url(), /days=365/)
    await page.getByRole('radio', { name: /^Events/ }).check()
    await page.getByRole('slider', { name: /^3 events from / }).waitFor()
    await page.setViewportSize({ width: 360, height: 740 })
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(over <= 0, 'nothing is wider than a phone')
  })

  test('is renamed after the name is valid', async () => {
    await keyboard.choose('Actions for Blog', 'Rename')
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

  test('is deleted after its name is typed', async () => {
    await keyboard.choose('Actions for Journal', 'Delete')
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
