import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, Keyboard, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

const hourMs = 3_600_000

describe('erasing a person in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const env = { LETHE_BATCH_PACE: '1000000/second', LETHE_LIMIT_ERASURE: '4/hour' }
  const shop = await startShop({ after }, { env, scopes: ['analytics:view'] })
  await shop.createTracker(shop.organisationId, 'weblog')
  const of = (email: string, ...ids: string[]) => ids.flatMap((id) => visit(id, { identifiers: { email } }))
  await shop.ingest([
    ...of('ada@example.com', 'laptop', 'phone'),
    ...visit('reader', { trackerId: 'weblog', identifiers: { email: 'ada@example.com', userId: '7' } }),
    ...visit('stranger', { identifiers: { userId: '8' } }),
    ...of('ben@example.com', 'ben-1', 'ben-2', 'ben-3'),
    ...of('eve@example.com', 'eve-1', 'eve-2'),
  ])
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, client)
  const { page } = seat
  const keyboard = new Keyboard(page)
  const isStored = async (id: string, trackerId = 'shop') =>
    (await shop.ask(subjectPath(id, trackerId), { key: shop.key })).status === 200
  const openErasures = () => shop.services.erasureBatches.countOpen(shop.organisationId, 'person')

  test('lists other data subjects of the same person, with links', async () => {
    await page.goto('/console/trackers/shop/subjects/stranger')
    await settled(page)
    await keyboard.press('Erase data')
    await page.getByRole('row', { name: /^shop/ }).waitFor()
    assert.equal(await page.getByText('other data subject').count(), 0)
    await page.keyboard.press('Escape')
    await goTo(page, '/trackers/shop/subjects/laptop')
    await keyboard.press('Erase data')
    await page.getByText('2 other data subjects have the same email:').waitFor()
    const addresses = await page
      .getByRole('dialog')
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
    assert.deepEqual(addresses.sort(), [
      '/console/trackers/shop/subjects/phone',
      '/console/trackers/weblog/subjects/reader',
    ])
    await settled(page)
    await assertAccessible(page, 'what else there is')
  })

  test('includes the others if chosen, with one certificate in the list', async () => {
    await keyboard.reach('Erase them too')
    await page.keyboard.press('Space')
    const all = page.getByRole('row', { name: '2 trackers' })
    await all.waitFor()
    assert.deepEqual(await all.getByRole('cell').allInnerTexts(), ['3', '3', '3'])
    await keyboard.type(/^Type the ID/, 'laptop')
    await keyboard.press('Erase for good')
    await page.getByRole('status').getByText('Verified').waitFor()
    await page.getByText('Everything we held about one person was erased.').waitFor()
    assert.deepEqual([await isStored('phone'), await isStored('reader', 'weblog')], [false, false])
    const address = page.url()
    await goTo(page, '/erasures')
    await page.getByRole('link', { name: 'Certificate for 3 data subjects' }).first().click()
    await page.getByRole('status').getByText('Verified').waitFor()
    assert.equal(page.url(), address)
    await assertAccessible(page, 'the certificate of a person')
  })

  test('continues when the tab is closed, waits for the budget, and is listed as in progress', async () => {
    const tab = await openPage(browser, shop, client)
    await tab.page.goto('/console/trackers/shop/subjects/ben-1')
    await settled(tab.page)
    await tab.page.getByRole('button', { name: 'Erase data' }).click()
    await tab.page.getByLabel('Erase them too').check()
    await tab.page.getByText('Your erasure budget covers 1 of these now.').waitFor()
    await tab.page.getByLabel(/^Type the ID/).fill('ben-1')
    await tab.page.getByRole('button', { name: 'Erase for good' }).click()
    await tab.page.getByText('The erasure budget is used up.').waitFor()
    assert.equal(await tab.page.getByText('Verified').count(), 0, 'there is no certificate before it is over')
    const address = tab.page.url()
    await tab.page.context().close()
    await goTo(page, '/erasures')
    await page.getByRole('link', { name: '1 of 3 data subjects erased' }).click()
    await page.getByText('The erasure budget is used up.').waitFor()
    assert.equal(page.url(), address)
    await settled(page)
    await assertAccessible(page, 'an erasure that waits')
    shop.passTime(hourMs)
    await until(async () => (await openErasures()) === 0)
    await page.reload()
    await page.getByText('Everything we held about one person was erased.').waitFor()
    for (const id of ['ben-1', 'ben-2', 'ben-3']) assert.equal(await isStored(id), false, id)
  })

  test('leaves a certificate that says what is missing when stopped, in print and on a phone too', async () => {
    await shop.ingest(of('eve@example.com', 'eve-3', 'eve-4', 'eve-5'))
    await goTo(page, '/trackers/shop/subjects/eve-1')
    await keyboard.press('Erase data')
    await keyboard.reach('Erase them too')
    await page.keyboard.press('Space')
    await page.getByRole('heading', { name: 'Erase 5 data subjects' }).waitFor()
    await keyboard.type(/^Type the ID/, 'eve-1')
    await keyboard.press('Erase for good')
    await page.getByText('The erasure budget is used up.').waitFor()
    await keyboard.press('Stop this erasure')
    await keyboard.press('Stop the erasure')
    await page.getByText('Not everything was erased.').waitFor()
    await page.getByRole('status').getByText('Incomplete').waitFor()
    const told = await page.getByRole('article').innerText()
    assert.match(told, /Part of what we held about one person was erased\./)
    assert.match(told, /3 records not erased, because the erasure was stopped/)
    assert.doesNotMatch(told, /Everything/)
    await settled(page)
    await assertAccessible(page, 'an incomplete certificate')
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.getByText('Not everything was erased.').isVisible(), true)
    await page.emulateMedia({ media: 'screen' })
    await page.setViewportSize({ width: 360, height: 740 })
    const over = await overflowOf(page)
    assert.ok(over <= 0, `${over} pixels too wide`)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  test('says so when the person is already gone, and erases nobody', async () => {
    await shop.ingest(visit('fay'))
    await goTo(page, '/trackers/shop/subjects/fay')
    await keyboard.press('Erase data')
    await page.getByRole('row', { name: /^shop/ }).waitFor()
    await keyboard.type(/^Type the ID/, 'fay')
    const other = await openPage(browser, shop, await openConsole(shop, shop.organisationId))
    await other.page.goto('/console/trackers/shop/subjects/fay')
    await settled(other.page)
    await other.page.getByRole('button', { name: 'Erase data' }).click()
    await other.page.getByLabel(/^Type the ID/).fill('fay')
    await other.page.getByRole('button', { name: 'Erase for good' }).click()
    await other.page.getByRole('status').getByText('Verified').waitFor()
    await keyboard.press('Erase for good')
    await page.getByText('Nothing is stored about this person').waitFor()
    assert.deepEqual([...seat.complaints, ...other.complaints], [])
  })
})
