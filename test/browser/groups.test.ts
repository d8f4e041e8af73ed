import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { eraseWithRequest, openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, Keyboard, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

describe('lists in groups in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const env = { LETHE_BATCH_PACE: '1000000/second' }
  const shop = await startShop({ after }, { env, scopes: ['analytics:view'] })
  const ids = Array.from({ length: 30 }, (_, i) => `v-${i}`)
  await shop.ingest(ids.flatMap((id) => visit(id, { events: 2 })))
  const client = await openConsole(shop, shop.organisationId)
  const subjects = ids.map((subjectId) => ({ trackerId: 'shop', subjectId }))
  await eraseWithRequest(shop, client, { subjects }, 30, 'Old')
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)
  const row = page.getByRole('row', { name: /30 data subjects erased/ })
  const expand = row.getByRole('button', { name: '30 data subjects erased' })

  test('show the erasures of one request as one row, which expands and links to all of them', async () => {
    await page.goto('/console/activity')
    await settled(page)
    await row.getByText('30 sessions, 60 events').waitFor()
    assert.equal(await page.getByText('Data subject erased', { exact: true }).count(), 1, 'only as a filter')
    assert.equal(await expand.getAttribute('aria-expanded'), 'false')
    await keyboard.press('30 data subjects erased')
    await page
      .getByRole('row', { name: /^Data subject erased shop · 1 session, 2 events/ })
      .nth(20)
      .waitFor()
    assert.equal(await expand.getAttribute('aria-expanded'), 'true')
    await page.getByRole('link', { name: /^\d more entr/ }).waitFor()
    await assertAccessible(page, 'an open group')
    await page.setViewportSize({ width: 360, height: 740 })
    assert.ok((await overflowOf(page)) <= 0)
    await page.setViewportSize({ width: 1280, height: 720 })
    await keyboard.press('30 data subjects erased')
    await page
      .getByRole('row', { name: /^Data subject erased/ })
      .first()
      .waitFor({ state: 'detached' })
    await keyboard.press('All entries of this request')
    await page
      .getByRole('row', { name: /^Data subject erased/ })
      .nth(25)
      .waitFor()
    assert.match(page.url(), /request=/)
  })

  test('show the erasures with one reference as one row, which links to their requests', async () => {
    await goTo(page, '/erasures')
    await row.getByRole('link', { name: 'Old' }).waitFor()
    assert.deepEqual((await row.getByRole('cell').allInnerTexts()).slice(3), ['30', '60'])
    await keyboard.press('30 data subjects erased')
    await page.getByRole('link', { name: 'No. 30', exact: true }).waitFor()
    await page.getByText('and 5 more').waitFor()
    await assertAccessible(page, 'an open group of erasures')
    await page.getByRole('link', { name: 'No. 29', exact: true }).click()
    await page.getByText('No. 29').first().waitFor()
    assert.match(page.url(), /certificates\/29$/)
    assert.deepEqual(complaints, [])
  })
})
