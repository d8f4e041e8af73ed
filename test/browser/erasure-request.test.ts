import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { listIn, objectIn } from '../support/answers.ts'
import { clientOf } from '../support/client.ts'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { holdBack, noBrowser, openBrowser, openPage, settled } from './browser.ts'

const email = 'ada@example.com'

describe('an erasure request from an e-mail address', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
  await shop.createTracker(shop.organisationId, 'blog')
  await shop.ingest([
    ...visit('laptop', { events: 5, identifiers: { email } }),
    ...visit('phone', { events: 2, identifiers: { email } }),
    ...visit('reader', { trackerId: 'blog', identifiers: { email } }),
    ...visit('somebody-else', { identifiers: { email: 'ben@example.com' } }),
  ])
  const browser = await openBrowser({ after })
  const client = await openConsole(shop, shop.organisationId, 'desk@acme.example')

  test('is carried out: search, read, export, erase everywhere, print the certificate, verify it', async () => {
    const { page, complaints } = await openPage(browser, shop, client)
    await page.goto('/console')
    await settled(page)

    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type(email)
    const options = page.getByRole('option')
    await options.nth(2).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('3 data subjects on 2 trackers').waitFor()

    await page.getByRole('link', { name: 'laptop' }).click()
    await page.getByRole('heading', { name: 'Sessions and events' }).waitFor()
    await page.getByText(email).waitFor()
    await page.locator('.event-line').nth(4).waitFor()
    const exporting = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download export' }).click()
    const copy = objectIn({ of: JSON.parse(readFileSync(await (await exporting).path(), 'utf8')) }, 'of')
    assert.equal(listIn(copy, 'events').length, 5)
    await page.goBack()

    await page.getByRole('link', { name: 'Open this person' }).click()
    await page.getByText('3 records on 2 trackers').waitFor()
    await page.getByRole('button', { name: 'Erase all' }).click()
    await page.getByRole('button', { name: 'Create request' }).click()
    await page.getByText('One person with 3 records').waitFor()
    await page.getByRole('button', { name: 'Erase everything found' }).click()
    await page.getByText('3 sessions and 8 events are deleted').waitFor()
    await page.getByLabel(/^Type the number of records/).fill('3')
    await page.getByRole('button', { name: 'Erase for good' }).click()
    await page.getByText('Closed in time').waitFor()
    await page.getByRole('link', { name: 'Certificate' }).first().click()
    await page.getByText('Everything we held about one person was erased.').waitFor()
    for (const [id, tracker] of [
      ['laptop', 'shop'],
      ['phone', 'shop'],
      ['reader', 'blog'],
    ] as const) {
      assert.equal((await shop.ask(subjectPath(id, tracker), { key: shop.key })).status, 404)
    }
    assert.equal((await shop.ask(subjectPath('somebody-else'), { key: shop.key })).status, 200)

    await page.getByRole('status').getByText('Verified').waitFor()
    assert.match(new URL(page.url()).pathname, /^\/console\/erasures\/certificates\/[0-9a-f-]{36}$/)
    const pdf = await page.pdf({ format: 'A4' })
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-')

    // Verify it with only the receipts and public data.
    const receipts: string[] = []
    page.on('download', async (download) => receipts.push(readFileSync(await download.path(), 'utf8')))
    await page.getByRole('button', { name: 'Download 3 receipts' }).click()
    await until(() => receipts.length === 3)
    const { verifierKeys } = await clientOf(shop).readLedger()
    const verified = await Promise.all(receipts.map((receipt) => verifyReceipt(receipt, { verifierKeys })))
    assert.equal(
      verified.reduce((events, { record }) => events + (record.version === 1 ? record.counts.events : 0), 0),
      8,
    )

    // Nothing identifies the person any more: not the page, the addresses or the search.
    assert.equal(await page.locator('#search-box').inputValue(), '')
    await page.goBack()
    await settled(page)
    const html = await page.content()
    for (const trace of [email, 'laptop', 'phone', 'reader']) assert.equal(html.includes(trace), false, trace)
    const release = await holdBack(page, '**/console/api/find')
    const asking = page.waitForRequest((request) => request.postDataJSON()?.text === email)
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type(email)
    await asking
    await page.getByRole('option', { name: 'New request for' }).waitFor()
    assert.equal(await options.count(), 1, 'nobody is remembered from before')
    release()
    await page.getByText('No people found.').waitFor()
    assert.deepEqual(complaints, [])
  })
})
