import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { dataOf, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, holdBack, Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('erasing a list in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const env = { LETHE_BATCH_PACE: '1000000/second' }
  const shop = await startShop({ after }, { env, scopes: ['analytics:view'] })
  await shop.ingest([
    ...visit('anna', { identifiers: { email: 'anna@example.com' } }),
    ...visit('bert'),
    ...visit('cora'),
    ...visit('dora', { identifiers: { email: 'dora@example.com' } }),
  ])
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)
  const isStored = async (id: string) => (await shop.ask(subjectPath(id), { key: shop.key })).status === 200

  test('is started by keyboard after the number is typed, and produces a report', async () => {
    await page.goto('/console/trackers/shop')
    await page.getByRole('rowheader', { name: 'anna' }).waitFor()
    await goTo(page, '/requests')
    await settled(page)
    await page.getByRole('link', { name: 'Erase a list' }).press('Enter')
    await page.getByRole('heading', { name: 'Erase a list' }).waitFor()
    await settled(page)
    await keyboard.type('List', 'anna\nnobody\nbert\n..\nbert')
    await keyboard.type('Reference', 'Closed accounts')
    await keyboard.press('Preview matches')
    await page.getByText('2 data subjects will be erased: 2 on shop.').waitFor()
    const figures = () => page.locator('dl.figures').first().innerText()
    assert.equal(
      (await figures()).replaceAll(/\s+/g, ' '),
      'Lines read 5 Used 3 Empty 0 Invalid 1 Repeated 1',
    )
    await assertAccessible(page, 'the preview')
    await keyboard.press('Lines without a request')
    await page.getByText('line 4: invalid').waitFor()
    await keyboard.press('Erase 2 data subjects…')
    await keyboard.type(/^Type the number/, '3')
    assert.equal(await page.getByRole('button', { name: 'Erase for good' }).isDisabled(), true)
    await keyboard.type(/^Type the number/, '2')
    await assertAccessible(page, 'the confirmation', { coloursAreKnown: true })
    await keyboard.press('Erase for good')
    await page.getByRole('heading', { name: '2 of 2 requests closed' }).waitFor()
    assert.match(page.url(), /\/requests\/group\?reference=Closed\+accounts$/)
    assert.deepEqual(
      [await isStored('anna'), await isStored('bert'), await isStored('cora')],
      [false, false, true],
    )
    await settled(page)
    assert.equal(
      (await figures()).replaceAll(/\s+/g, ' '),
      'Done 2 Running 0 Not started 0 Cancelled 0 Rejected 0',
    )
    await assertAccessible(page, 'a list that is done')
    const downloading = page.waitForEvent('download')
    await keyboard.press('Download report')
    const report = JSON.parse(readFileSync(await (await downloading).path(), 'utf8'))
    const receipts = report.requests.flatMap(({ entries }: { entries: { receipt: string }[] }) => entries)
    assert.equal(receipts.length, 2)
    await page
      .getByRole('link', { name: /^Closed accounts/ })
      .first()
      .click()
    await page.getByRole('link', { name: 'Certificate' }).first().waitFor()
    await page.getByRole('link', { name: 'Closed accounts', exact: true }).click()
    await page.getByRole('heading', { name: '2 of 2 requests closed' }).waitFor()
  })

  test('leaves no erased person in cached lists', async () => {
    const release = await holdBack(page, '**/trackers/shop/subjects?*')
    await page.getByRole('link', { name: 'Trackers' }).click()
    await page.getByRole('main').getByRole('link', { name: 'shop' }).first().click()
    await page.locator('.skeleton').first().waitFor()
    assert.equal((await page.content()).includes('anna'), false)
    release()
    await page.getByRole('rowheader', { name: 'cora' }).waitFor()
  })

  test('offers to match by e-mail address if the IDs of a list look like addresses', async () => {
    await goTo(page, '/requests/erase-list')
    await keyboard.type('Reference', 'Addresses')
    await keyboard.type('List', 'cora@example.com\nbert')
    assert.equal(await page.getByText('These look like e-mail addresses').count(), 0)
    await keyboard.type('List', 'cora@example.com\ndora@example.com')
    await assertAccessible(page, 'an offer')
    await keyboard.press('Match by e-mail address')
    assert.equal(await page.getByRole('radio', { name: 'E-mail address' }).isChecked(), true)
    await keyboard.press('Preview matches')
    await page.getByText('1 data subject will be erased: 1 on shop.').waitFor()
    assert.equal(await page.getByText('These look like e-mail addresses').count(), 0)
  })

  test('shows no preview of a list that changed while it was being previewed', async () => {
    const release = await holdBack(page, '**/erasure-lists/preview')
    await keyboard.type('List', 'anna@example.com')
    await keyboard.press('Preview matches')
    await keyboard.type('List', 'cora@example.com\ndora@example.com')
    const previewed = page.waitForResponse('**/erasure-lists/preview')
    release()
    await previewed
    await settled(page)
    assert.equal(await page.getByRole('heading', { name: 'Preview' }).count(), 0)
  })

  test('is created from a column of a file', async () => {
    // Reload, because the form keeps the previous choices.
    await page.goto('/console/requests/erase-list')
    await settled(page)
    await keyboard.type('Reference', 'A file')
    const buffer = Buffer.from('name,E-Mail\nCora,cora@example.com\n"Anna, A.",anna@example.com\n')
    await page.getByLabel('Choose a file').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
    assert.equal(await page.getByLabel('Column').inputValue(), 'E-Mail')
    assert.equal(await page.getByRole('radio', { name: 'E-mail address' }).isChecked(), true)
    await keyboard.press('Preview matches')
    await page.getByText('Nobody on this list is left to erase.').waitFor()
    await page.getByText('Header and lines inside quotes').waitFor()
    const broken = Buffer.from('name,E-Mail\nCora,cora@example.com\n"Anna, A.,anna@example.com\n')
    await page
      .getByLabel('Choose a file')
      .setInputFiles({ name: 'broken.csv', mimeType: 'text/csv', buffer: broken })
    await until(async () => (await page.getByLabel('List').inputValue()) === broken.toString())
    await keyboard.press('Preview matches')
    await page.getByText(/line 3 opens a quoted field that is never closed/).waitFor()
    const dataTransfer = await page.evaluateHandle(() => {
      const dropped = new DataTransfer()
      dropped.items.add(new File([new Uint8Array([0x50, 0x4b, 3, 4, 0xff])], 'binary.csv'))
      return dropped
    })
    await page.getByLabel('List').dispatchEvent('drop', { dataTransfer })
    await page.getByText(/is not text in UTF-8/).waitFor()
    assert.equal(await page.getByLabel('List').inputValue(), broken.toString())
    await page.setViewportSize({ width: 360, height: 740 })
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(overflow <= 0, 'nothing is wider than a phone')
    await page.goto('/console/batches/batch_0000')
    await page.waitForURL(/\/requests\/group\?reference=batch_0000$/)
    complaints.length = 0
  })

  test('is not previewed for a tracker that was deleted meanwhile, and says so', async () => {
    const gone = dataOf(await client.ask('/trackers', { method: 'POST', body: { name: 'Gone' } }))
    await page.goto('/console/requests/erase-list')
    await page.getByLabel('List').fill('cora')
    await page.getByLabel('Reference').fill('Deleted')
    await page.getByRole('checkbox', { name: 'Gone' }).check()
    const path = `/trackers/${textIn(gone, 'id')}/delete`
    dataOf(await client.ask(path, { method: 'POST', body: { name: 'Gone' } }))
    await page.getByRole('button', { name: 'Preview matches' }).click()
    await page.getByText('TrackerIds must be trackers of this organisation.').waitFor()
  })

  test('is one row of the inbox, and can be cancelled', async () => {
    const reference = 'Not started'
    for (const email of ['dora@example.com', 'eve@example.com']) {
      const person = { identifiers: [{ name: 'email', value: email }], subjects: [] }
      const body = { kind: 'erasure', person, reference }
      assert.equal((await client.ask('/requests', { method: 'POST', body })).status, 200)
    }
    await page.setViewportSize({ width: 1280, height: 720 })
    await page.goto('/console/requests')
    await page.getByRole('link', { name: /Not started.*2 requests/ }).click()
    await page.getByText('2 erasure requests have not been started.').waitFor()
    await settled(page)
    await assertAccessible(page, 'a group that is not started')
    await keyboard.press('Cancel those not finished')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel those not finished' }).click()
    await page.getByRole('heading', { name: '2 of 2 requests closed' }).waitFor()
    assert.equal(await isStored('dora'), true)
    assert.deepEqual(complaints, [])
  })
})
