import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { freshStore } from '../support/fresh-database.ts'
import { inReverse } from '../support/in-reverse.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { readZip } from '../support/zip.ts'
import { assertAccessible } from './accessible.ts'
import { Keyboard, launchBrowser, noBrowser, openBrowser, openPage, settled } from './browser.ts'

/**
 * From an address to a certificate. Each engine has its own file, because suites of one file would share a
 * browser.
 */
export function requestStory(engine: 'SQLite' | 'PostgreSQL'): void {
  describe(`the story of a request in a browser, on ${engine}`, { skip: noBrowser }, () => tell(engine))
}

async function tell(engine: string): Promise<void> {
  if (noBrowser) return
  const lifetime = inReverse({ after })
  const store = engine === 'PostgreSQL' ? { LETHE_STORE: await freshStore(lifetime) } : {}
  const env = { LETHE_BATCH_PACE: '1000000/second', ...store }
  const shop = await startShop(lifetime, { env, scopes: ['analytics:view'] })
  await shop.createTracker(shop.organisationId, 'weblog')
  const identifiers = { email: 'ada@example.com' }
  await shop.ingest([
    ...visit('laptop', { events: 3, identifiers }),
    ...visit('tablet', { events: 2, identifiers }),
    ...visit('reader', { trackerId: 'weblog', identifiers }),
    ...visit('stranger'),
  ])
  const client = await openConsole(shop, shop.organisationId, 'ben@acme.example')
  const browser = await openBrowser(lifetime)
  const { page, complaints } = await openPage(browser, shop, client, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const keyboard = new Keyboard(page)
  const records = page.locator('.found-record')
  const isStored = async (id: string, trackerId = 'shop') =>
    (await shop.ask(subjectPath(id, trackerId), { key: shop.key })).status === 200

  /** Opens the form of a new request from the search box. */
  async function begin(text: string): Promise<void> {
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.insertText(text)
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByRole('dialog', { name: 'New request' }).waitFor()
  }

  test('starts in the search box with an address and one key', async () => {
    await page.goto('/console/members')
    await settled(page)
    await begin('ada@example.com')
    assert.equal(await page.getByLabel('Value of identifier 1').inputValue(), 'ada@example.com')
    assert.equal(page.url().includes('ada'), false, 'no address in the URL')
    await assertAccessible(page, 'the form of a request')
    await keyboard.press('Add a record')
    await keyboard.press('Remove record 1')
    await page.getByRole('dialog').getByRole('radio', { name: 'Erasure' }).check({ force: true })
    await page.getByLabel('Received on').fill('2999-01-01')
    await keyboard.type('Reference', 'DSR-1')
    await keyboard.press('Create request')
    await page.getByText('The day must be today or earlier.').waitFor()
    // An invalid date also leaves the field empty.
    await page.getByLabel('Received on').fill('')
    await keyboard.press('Create request')
    await page.getByText('Enter the day on which the request was received.').waitFor()
    const fiveDaysAgo = new Date(Date.now() - 5 * 86_400_000).toISOString()
    await page.getByLabel('Received on').fill(fiveDaysAgo.slice(0, 10))
    await keyboard.press('Create request')
    await page.getByRole('heading', { name: 'DSR-1', level: 1 }).waitFor()
    await settled(page)
    await page.getByText('One person with 3 records').waitFor()
    await assertAccessible(page, 'an open request')
  })

  test('shows each record with its tracker, and excludes one with a reason', async () => {
    assert.deepEqual(
      (await records.allInnerTexts()).map((text) => text.split('\n')[0]),
      ['shop laptop', 'shop tablet', 'weblog reader'],
    )
    await keyboard.press('Exclude tablet on shop')
    await assertAccessible(page, 'excluding a record')
    await keyboard.type('Reason', 'The family shares it.')
    await keyboard.press('Exclude the record')
    await page.getByText('One person with 2 records').waitFor()
    await page.getByText('Excluded by ben@acme.example: The family shares it.').waitFor()
    await keyboard.press('Exclude laptop on shop')
    await keyboard.type('Reason', 'By mistake.')
    await keyboard.press('Exclude the record')
    await page.getByText('One person with 1 record').waitFor()
    await keyboard.press('Include laptop on shop')
    await page.getByText('One person with 2 records').waitFor()
  })

  test('has an assignee and notes, and is extended once', async () => {
    await keyboard.press('Assign to me')
    await page.getByRole('button', { name: 'Assign to me' }).waitFor({ state: 'detached' })
    await keyboard.type('Add a note', 'Called her back.')
    await keyboard.press('Add note')
    await page.getByText('Called her back.').waitFor()
    await keyboard.type('Add a note', 'A slip.')
    await keyboard.press('Add note')
    await page.getByRole('button', { name: 'Delete this note' }).nth(1).click()
    await page.getByRole('button', { name: 'Delete note' }).click()
    await page.getByText('A slip.').waitFor({ state: 'detached' })
    await page.getByText('Note deleted', { exact: true }).first().waitFor()
    await keyboard.choose('More actions', 'Extend')
    await keyboard.type('Reason', 'There are many requests.')
    await keyboard.press('Extend by two months')
    await page.getByText('There are many requests.').first().waitFor()
    await keyboard.reach('More actions')
    await page.keyboard.press('Enter')
    assert.deepEqual(await page.getByRole('menuitem').allInnerTexts(), ['Reject', 'Cancel'])
    await page.keyboard.press('Escape')
  })

  test('downloads the export, and copies the reply in both languages', async () => {
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export copy (ZIP)' }).first().click()
    const download = await downloading
    assert.match(download.suggestedFilename(), /\.zip$/)
    const files = readZip(readFileSync(await download.path()))
    const text = (name: RegExp) => files.filter((file) => name.test(file.name)).map((file) => file.text)
    assert.match(text(/^index\.html$/).join(), /ada@example\.com[\s\S]*laptop[\s\S]*reader/)
    const records = text(/^records\//).map((json) => JSON.parse(json))
    assert.deepEqual(
      records.map(({ trackerId, subjectId, events }) => [trackerId, subjectId, events.length]),
      [
        ['shop', 'laptop', 3],
        ['weblog', 'reader', 1],
      ],
    )
    for (const other of ['tablet', 'stranger']) assert.equal(text(/./).join().includes(other), false, other)
    await page.getByText('Export started', { exact: true }).waitFor()
    await page.getByText('Make sure that the download is complete').waitFor()
    await page.getByText('Lethe sends nothing.').waitFor()
    const reply = page.getByLabel('Reply text')
    assert.match(await reply.inputValue(), /DSR-1/)
    await keyboard.press('Copy reply')
    await page.getByText('Reply copied').waitFor()
    const english = await reply.inputValue()
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), english)
    await page.getByRole('radio', { name: 'German' }).check({ force: true })
    await page.waitForFunction(
      (before) => document.querySelector<HTMLTextAreaElement>('[aria-label="Reply text"]')?.value !== before,
      english,
    )
    assert.equal(await reply.getAttribute('lang'), 'de')
  })

  test('erases the data after the number is typed, and forgets the person', async () => {
    await keyboard.press('Erase everything found')
    await assertAccessible(page, 'erasing a request')
    await keyboard.type(/^Type the number of records/, '3')
    assert.equal(await page.getByRole('button', { name: 'Erase for good' }).isDisabled(), true)
    await keyboard.type(/^Type the number of records/, '2')
    await keyboard.press('Erase for good')
    await page.getByText('Closed in time').waitFor()
    await settled(page)
    assert.deepEqual([await isStored('laptop'), await isStored('reader', 'weblog')], [false, false])
    assert.deepEqual([await isStored('tablet'), await isStored('stranger')], [true, true])
    const shown = await page.content()
    for (const trace of ['ada@example.com', 'Called her back.', 'laptop', 'tablet'])
      assert.equal(shown.includes(trace), false, trace)
    await page.getByText('2 records with 2 sessions and 4 events, in all trackers.').waitFor()
    await page.getByRole('link', { name: 'Certificate' }).first().waitFor()
    await assertAccessible(page, 'a request that is done')
  })

  test('has a certificate that verifies on /verify in another browser, without signing in', async () => {
    await page.getByRole('link', { name: 'Certificate' }).first().click()
    await page.getByRole('status').getByText('Verified').waitFor()
    const [key] = /\S+\+[0-9a-f]{8}\+\S+/.exec(await page.getByRole('article').innerText()) ?? []
    assert.ok(key, 'the certificate names the key')
    const receipts = new Map<string, string>()
    const folder = temporaryFolder(lifetime)
    const both = Promise.withResolvers<void>()
    page.on('download', async (download) => {
      const path = join(folder, download.suggestedFilename())
      await download.saveAs(path)
      receipts.set(download.suggestedFilename(), path)
      if (receipts.size === 2) both.resolve()
    })
    await page.getByRole('button', { name: 'Download 2 receipts' }).click()
    await both.promise
    const stranger = await launchBrowser(lifetime)
    const { page: verify, requested, complaints } = await openPage(stranger, shop)
    await verify.route('**/*', (route, request) =>
      new URL(request.url()).pathname === '/verify' ? route.continue() : route.abort(),
    )
    for (const [name, tracker, subject] of [
      ['receipt-1.txt', 'shop', 'laptop'],
      ['receipt-2.txt', 'weblog', 'reader'],
    ] as const) {
      await verify.goto('/verify')
      await verify.locator('#files').setInputFiles(receipts.get(name) ?? assert.fail(name))
      // Verified as far as possible without the key.
      await verify.locator('#result h2').waitFor()
      await verify.locator('#keys').fill(key)
      await verify.locator('#tracker').fill(tracker)
      await verify.locator('#subject').fill(subject)
      await verify.getByRole('button', { name: 'Verify receipt' }).click()
      await verify.locator('#result h2').waitFor()
      const told = await verify.locator('#result').innerText()
      assert.match(told, /^Verified\n/)
      assert.match(told, /The data subject ID matches\./)
    }
    assert.deepEqual([...new Set(requested.map((address) => new URL(address).pathname))], ['/verify'])
    assert.deepEqual(complaints, [])
    assert.deepEqual(await verify.context().cookies(), [])
    await page.goBack()
    await page.getByText('Closed in time').waitFor()
  })

  test('is linked to an earlier request, and an access request is rejected with a reason', async () => {
    await begin('ada@example.com')
    await keyboard.type('Reference', 'DSR-2')
    await keyboard.press('Create request')
    await page.getByRole('heading', { name: 'DSR-2', level: 1 }).waitFor()
    await settled(page)
    await page.getByRole('link', { name: 'DSR-1' }).waitFor()
    await keyboard.choose('More actions', 'Reject')
    await keyboard.type('Reason', 'We could not confirm who asked.')
    await keyboard.press('Reject the request')
    await page.getByText('We could not confirm who asked.').first().waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await isStored('tablet'), true)
  })

  test('certifies that no data is held', async () => {
    await begin('nobody@example.com')
    await keyboard.press('Create request')
    await page.getByRole('heading', { name: 'Nobody found' }).or(page.getByText('Nobody found')).waitFor()
    await keyboard.press('Close as answered')
    await keyboard.press('Close the request')
    await page.getByText('Closed in time').waitFor()
    await page.getByRole('link', { name: 'Certificate' }).first().waitFor()
    assert.deepEqual(complaints, [])
  })
}
