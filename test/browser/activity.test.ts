import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { goTo, Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('the activity in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
  await shop.ingest([...visit('anna'), ...visit('bert')])
  for (const id of ['anna', 'bert']) await shop.ask(subjectPath(id), { key: shop.key, method: 'DELETE' })
  const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)
  const rows = () => page.getByRole('row').count()

  test('is filtered by action, actor and day, which are kept in the address', async () => {
    await page.goto('/console/activity')
    await settled(page)
    await page.getByLabel('Action', { exact: true }).selectOption('Data subject erased')
    await page.getByRole('row', { name: /^Key created/ }).waitFor({ state: 'detached' })
    await settled(page)
    assert.equal(await rows(), 3)
    assert.match(page.url(), /kind=subject\.erased/)
    await page.getByLabel('Actor').selectOption('ada@acme.example')
    await page.getByText('No results match every term.').waitFor()
    await page.goBack()
    await page
      .getByRole('row', { name: /^Data subject erased/ })
      .first()
      .waitFor()
    assert.equal(await page.getByLabel('Action', { exact: true }).inputValue(), 'subject.erased')
    await page.getByLabel('Day').fill('2001-01-01')
    await page.getByText('No results match every term.').waitFor()
    await keyboard.press('Clear filters')
    await page
      .getByRole('row', { name: /^Key created/ })
      .first()
      .waitFor()
  })

  test('is exported with its filters', async () => {
    await goTo(page, '/activity?kind=subject.erased')
    const downloading = page.waitForEvent('download')
    await keyboard.press('CSV')
    const download = await downloading
    assert.equal(download.suggestedFilename(), 'lethe-activity.csv')
    assert.equal(readFileSync(await download.path(), 'utf8').split('\r\n').length, 4)
  })

  test('shows the ledger, verified by the browser, and recomputes it', async () => {
    await page.getByText('2 entries', { exact: true }).waitFor()
    await page.getByText('Verified in this browser').waitFor()
    await keyboard.press('Recompute')
    await page.getByText('Recomputed from 2 entries: the root hash matches.').waitFor()
    assert.deepEqual(complaints, [])
  })

  test('names the request of an entry by its reference, and links to it', async () => {
    const person = { identifiers: [{ name: 'email', value: 'anna@example.com' }], subjects: [] }
    const body = { kind: 'access', person, reference: 'Ticket 7' }
    await client.ask('/requests', { method: 'POST', body })
    await goTo(page, '/activity?kind=request.created')
    await page.getByRole('link', { name: 'Ticket 7', exact: true }).click()
    await page.getByRole('heading', { name: 'Ticket 7', level: 1 }).waitFor()
    assert.deepEqual(complaints, [])
  })
})
