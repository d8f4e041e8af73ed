import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { objectIn, textIn } from '../support/answers.ts'
import { clientOf } from '../support/client.ts'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, holdBack, Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('the certificate of an erasure in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
  await shop.ingest([...visit('anna', { events: 3 }), ...visit('ben', { events: 2 })])
  const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, client)
  const { page } = seat
  const keyboard = new Keyboard(page)
  const { verifierKeys } = await clientOf(shop).readLedger()

  test('has an empty list with instructions before the first erasure', async () => {
    await page.goto('/console/erasures')
    await page.getByText('No erasures yet').waitFor()
    await goTo(page, '/erasures/certificates/1')
    await page.getByText('Not found').waitFor()
    for (const wrong of ['0', '1,x', 'batch_']) {
      await goTo(page, `/erasures/certificates/${wrong}`)
      await page.getByText('There is no page at this address').waitFor()
    }
  })

  test('shows what remains of a request that was deleted', async () => {
    const requestId = '6a1b9f7e-6a5c-4d0c-9d0b-6a6f3f0f5e0d'
    for (const path of [`/requests/${requestId}`, `/erasures/certificates/${requestId}`]) {
      await goTo(page, path)
      await page.getByText('Closed requests are kept as long as the activity.').waitFor()
      await page.getByRole('main').getByRole('link', { name: 'erasures', exact: true }).click()
      await page.getByRole('heading', { name: 'Erasures', level: 1 }).waitFor()
    }
  })

  test('shows what was deleted, when, by whom and with which request, and verifies', async () => {
    await goTo(page, '/trackers/shop/subjects/anna')
    await page.getByRole('button', { name: 'Erase data' }).click()
    await settled(page)
    await assertAccessible(page, 'what will go')
    await page.getByLabel(/^Type the ID/).fill('anna')
    const answered = page.waitForResponse('**/requests/*/erase')
    await page.getByRole('button', { name: 'Erase for good' }).click()
    const requestId = /requests\/([0-9a-f-]{36})\/erase$/.exec((await answered).url())?.[1] ?? 'none'
    await page.getByRole('link', { name: 'Certificate' }).first().click()
    await page.getByRole('status').getByText('Verified').waitFor()
    const told = await page.getByRole('article').innerText()
    for (const fact of [
      'Everything we held in one record was erased.',
      'Certificate of erasure No. 1',
      '1 visit, 3 events',
      'ada@acme.example',
      'of 1 entry with the root hash',
      requestId,
      ...verifierKeys,
    ]) {
      assert.ok(told.includes(fact), `${fact} is not in ${told}`)
    }
    assert.match(told, /The receipt is valid/)
    assert.match(told, /http:\/\/[\d.:]+\/verify/)
    assert.match(told, /The next nightly scrub will/)
    await assertAccessible(page, 'a certificate')
  })

  test('links to its ledger entry with the proof', async () => {
    const coming = page.waitForEvent('download')
    await keyboard.press('1')
    const download = await coming
    assert.equal(download.suggestedFilename(), 'ledger-entry-1.json')
    const entry = objectIn(JSON.parse(readFileSync(await download.path(), 'utf8')), 'data')
    assert.match(textIn(entry, 'record'), /"trackerId":"shop"/)
  })

  /** Downloads the file that a button saves, as a text. */
  async function download(button: string | RegExp): Promise<{ name: string; text: string }> {
    const coming = page.waitForEvent('download')
    await keyboard.press(button)
    const saved = await coming
    return { name: saved.suggestedFilename(), text: readFileSync(await saved.path(), 'utf8') }
  }

  test('offers the receipt when first opened, after Back and after a reload', async () => {
    const address = page.url()
    const visits = [
      async () => {},
      async () => {
        await goTo(page, '/erasures')
        await page.goBack()
      },
      () => page.reload(),
      () => page.goto(address),
    ]
    for (const visit of visits) {
      await visit()
      await page.getByRole('status').getByText('Verified').waitFor()
      const { name, text } = await download('Download the receipt')
      assert.equal(name, 'receipt-1.txt')
      await verifyReceipt(text, { verifierKeys, trackerId: 'shop', subjectId: 'anna' })
    }
    assert.equal((await page.content()).includes('anna'), false)
  })

  test('has its number, counted from 1, in its address, and redirects from the former address', async () => {
    await page.goto('/console/erasures/0')
    await page.getByRole('heading', { name: 'Certificate No. 1', exact: true }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/console/erasures/certificates/1')
    await page.getByRole('status').getByText('Verified').waitFor()
    assert.match((await download('Download the receipt')).text, /^c2sp\.org/)
    await goTo(page, '/activity')
    await keyboard.press('Certificate 1')
    await page.getByRole('heading', { name: 'Certificate No. 1', exact: true }).waitFor()
  })

  test('states whether an ID was typed, which is in no address', async () => {
    const before = seat.requested.length
    await keyboard.type('Data subject ID', 'ben')
    await keyboard.press('Check ID')
    await page.getByText('No. This erasure was for another data subject.').waitFor()
    await keyboard.type('Data subject ID', 'anna')
    await keyboard.press('Check ID')
    await page.getByText('Yes, in entry 1. The receipt is valid and belongs to this data subject.').waitFor()
    const release = await holdBack(page, '**/erasures/receipt')
    await keyboard.press('Check ID')
    await keyboard.type('Data subject ID', 'ben')
    const answered = page.waitForResponse('**/erasures/receipt')
    release()
    await answered
    await settled(page)
    assert.equal(await page.getByText('Yes, in entry 1.').count(), 0, 'no answer about another ID')
    for (const address of seat.requested.slice(before)) {
      assert.equal(address.includes('anna'), false, address)
    }
  })

  test('names the key that carried out the erasure, and the scrub since then', async () => {
    await shop.ask(subjectPath('ben'), { key: shop.key, method: 'DELETE' })
    shop.passTime(5_000)
    await shop.services.maintenance.scrub(shop.services.clock())
    await goTo(page, '/erasures')
    const rows = page.getByRole('row')
    await rows.nth(2).waitFor()
    assert.match(await rows.nth(1).innerText(), /^No\. 2\b[\s\S]*shop[\s\S]*key-2/)
    await keyboard.press('No. 2')
    await page.getByText(/The scrub on .* removed every byte/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Download the receipt' }).count(), 0)
  })

  test('fails to verify if the server and the ledger disagree', async () => {
    await page.route('**/erasures/certificate?*', async (route) => {
      const body = await (await route.fetch()).json()
      body.data.entry.counts.events += 1
      await route.fulfill({ json: body })
    })
    await page.reload()
    await page.getByRole('status').getByText('Not verified').waitFor()
    await page.getByText('The ledger entry differs from what this page shows.').waitFor()
    await page.unroute('**/erasures/certificate?*')
  })

  test('can be printed', async () => {
    await goTo(page, '/erasures/certificates/1')
    await page.getByText('1 visit, 3 events').waitFor()
    for (const format of ['A4', 'Letter']) {
      const pdf = await page.pdf({ format })
      assert.equal(pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length, 1, `one page of ${format}`)
    }
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    assert.equal(await page.getByRole('button', { name: 'Check' }).first().isVisible(), false)
    const colour = await page
      .getByRole('article')
      .evaluate((sheet) => getComputedStyle(sheet).backgroundColor)
    assert.equal(colour, 'rgb(255, 255, 255)')
    assert.deepEqual(seat.complaints, [])
  })
})
