import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { objectIn, textIn } from '../support/answers.ts'
import { clientOf } from '../support/client.ts'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, Keyboard, noBrowser, openBrowser, settled, sitDown } from './browser.ts'

describe('the certificate of an erasure in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const env = { LETHE_LIMIT_ERASURE: '3/hour' }
  const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'], env })
  await shop.ingest([
    ...visit('anna', { events: 3 }),
    ...visit('ben', { events: 2 }),
    ...visit('carla'),
    ...visit('dora'),
    ...visit('emil'),
  ])
  const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')
  const browser = await openBrowser({ after })
  const seat = await sitDown(browser, shop, client)
  const { page } = seat
  const hands = new Keyboard(page)
  const { verifierKeys } = await clientOf(shop).readLedger()

  test('is empty as long as nobody was erased, and says how to begin', async () => {
    await page.goto('/console/erasures')
    await page.getByText('Nobody has been erased yet').waitFor()
    await goTo(page, '/erasures/0')
    await page.getByText('This is not there').waitFor()
    await goTo(page, '/erasures/0,x')
    await page.getByText('There is nothing at this address').waitFor()
  })

  test('tells what was deleted, when, by whom and by which request, and that it verifies', async () => {
    await goTo(page, '/trackers/shop/subjects/anna')
    await page.getByRole('button', { name: 'Erase' }).click()
    await settled(page)
    await assertAccessible(page, 'what will go')
    await page.getByLabel(/^Type the id/).fill('anna')
    const answered = page.waitForResponse('**/erase')
    await page.getByRole('button', { name: 'Erase for good' }).click()
    const requestId = (await (await answered).allHeaders())['x-request-id'] ?? 'none'
    await page.getByRole('status').getByText('Verified').waitFor()
    const told = await page.getByRole('article').innerText()
    for (const fact of [
      '3 events in 1 session',
      'No. 0 of 1',
      'ada@acme.example',
      requestId,
      ...verifierKeys,
    ]) {
      assert.ok(told.includes(fact), `${fact} is not in ${told}`)
    }
    assert.match(told, /The receipt is of the data subject that was erased/)
    assert.match(told, /The scrub follows/)
    await assertAccessible(page, 'a certificate')
  })

  test('leads to its entry in the ledger, with what proves it', async () => {
    const coming = page.waitForEvent('download')
    await hands.press('Entry 0 with its proof')
    const download = await coming
    assert.equal(download.suggestedFilename(), 'ledger-entry-0.json')
    const entry = objectIn(JSON.parse(readFileSync(await download.path(), 'utf8')), 'data')
    assert.match(textIn(entry, 'record'), /"trackerId":"shop"/)
  })

  test('hands over the receipt as long as it is open', async () => {
    const coming = page.waitForEvent('download')
    await hands.press('Download the receipt')
    const download = await coming
    assert.equal(download.suggestedFilename(), 'erasure-receipt-0.txt')
    const receipt = readFileSync(await download.path(), 'utf8')
    await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId: 'anna' })
  })

  test('stays at its address, proves itself there, and gives the receipt to whoever knows the id', async () => {
    const before = seat.requested.length
    await page.reload()
    await page.getByRole('status').getByText('Verified').waitFor()
    assert.equal((await page.content()).includes('anna'), false)
    assert.equal(await page.getByRole('button', { name: 'Download the receipt' }).count(), 0)
    await hands.type('Id of the data subject', 'ben')
    await hands.press('Check')
    await page.getByText('No. This erasure was of another data subject.').waitFor()
    await hands.type('Id of the data subject', 'anna')
    await hands.press('Check')
    await page.getByText('Yes. The receipt verifies, and it is of this data subject.').waitFor()
    const coming = page.waitForEvent('download')
    await hands.press('Download the receipt')
    const receipt = readFileSync(await (await coming).path(), 'utf8')
    await verifyReceipt(receipt, { verifierKeys, trackerId: 'shop', subjectId: 'anna' })
    for (const address of seat.requested.slice(before)) {
      assert.equal(address.includes('anna'), false, address)
    }
  })

  test('of erasures by a key says so, and the scrub that came since', async () => {
    await shop.ask(subjectPath('ben'), { key: shop.key, method: 'DELETE' })
    shop.passTime(5_000)
    await shop.services.maintenance.scrub(shop.services.clock())
    await goTo(page, '/erasures')
    const rows = page.getByRole('row')
    await rows.nth(2).waitFor()
    assert.match(await rows.nth(1).innerText(), /^No\. 1\b[\s\S]*shop[\s\S]*key-2/)
    await hands.press('No. 1')
    await page.getByText('Scrubbed.').waitFor()
  })

  test('does not verify when what the server says is not what the ledger says', async () => {
    await page.route('**/erasures/certificate?*', async (route) => {
      const body = await (await route.fetch()).json()
      body.data.erasure.counts.events += 1
      await route.fulfill({ json: body })
    })
    await page.reload()
    await page.getByRole('status').getByText('Not verified').waitFor()
    await page.getByText('The entry says something else than this page.').waitFor()
    await page.unroute('**/erasures/certificate?*')
  })

  test('is made for paper', async () => {
    await goTo(page, '/erasures/0')
    await page.getByText('3 events in 1 session').waitFor()
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

  test('is for as many as a member may erase, and the dialog says before how many that are', async () => {
    await page.emulateMedia({ media: 'screen' })
    for (const id of ['carla', 'dora', 'emil']) {
      await goTo(page, `/trackers/shop/subjects/${id}`)
      await page.getByRole('button', { name: 'Erase' }).click()
      if (id !== 'carla') await page.getByText(`You can erase ${id === 'dora' ? 1 : 0} more until`).waitFor()
      await page.getByLabel(/^Type the id/).fill(id)
      await page.getByRole('button', { name: 'Erase for good' }).click()
      if (id !== 'emil') await page.getByText('1 event in 1 session').waitFor()
    }
    await page.getByText('You have used up your erasures').waitFor()
    const view = { organisationId: shop.organisationId, trackerId: 'shop', since: 0 }
    assert.notEqual(await shop.services.subjects.read(view, 'emil'), null)
  })
})
