import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { formatMonth, monthOf, startOfMonth } from '../../src/domain/month.ts'
import { openConsole } from '../support/console.ts'
import { storeRequest } from '../support/privacy-request.ts'
import { startShop } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

const dayMs = 86_400_000
const month = monthOf(Date.now())
const nameOf = (month: number) =>
  new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    startOfMonth(month),
  )

describe('the report of requests in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const start = startOfMonth(month - 2)
  const store = (fields: Partial<Parameters<typeof storeRequest>[2]>) =>
    storeRequest(shop.services, shop.organisationId, { receivedAt: start, ...fields })
  for (const days of [1, 2, 40]) await store({ closed: ['done', start + days * dayMs] })
  await store({ kind: 'access', closed: ['done', start + dayMs / 2] })
  await store({ kind: 'access', closed: ['rejected', start + 4 * dayMs] })
  await store({ receivedAt: startOfMonth(month - 1), dueAt: startOfMonth(month - 1) + dayMs })
  await store({ receivedAt: startOfMonth(month - 20), closed: ['done', startOfMonth(month - 20) + 5] })
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const rows = async () =>
    (await page.locator('.report-table tbody tr').allInnerTexts()).map((row) => row.split(/\s*[\n\t]\s*/))

  test('has the counts of each month and kind, and the totals', async () => {
    await page.goto('/console/requests/report')
    await settled(page)
    assert.deepEqual(await rows(), [
      [nameOf(month - 2), 'Access', '2', '1', '1', '0', '12 hours', '12 hours', '100%'],
      [nameOf(month - 2), 'Erasure', '3', '3', '0', '0', '2 days', '40 days', '66%'],
      [nameOf(month - 1), 'Erasure', '1', '0', '0', '1 (1 overdue)', '–', '–', '0%'],
      ['Total', 'Access', '2', '1', '1', '0', '12 hours', '12 hours', '100%'],
      ['Total', 'Erasure', '4', '3', '0', '1 (1 overdue)', '2 days', '40 days', '50%'],
      ['Total', 'All', '6', '4', '1', '1 (1 overdue)', '1.5 days', '40 days', '66%'],
    ])
    assert.deepEqual(await page.locator('.figures dd').allInnerTexts(), [
      '6',
      '1.5 days',
      '40 days',
      '66%\n4 of 6',
      '1',
    ])
    await page.getByRole('heading', { name: 'How the figures are calculated' }).waitFor()
    await assertAccessible(page, 'a report')
  })

  test('shows late requests in the bar of their month', async () => {
    const slider = page.getByRole('slider', { name: /^Requests received in / })
    await slider.focus()
    await page.keyboard.press('ArrowLeft')
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /: 1 request, 1 late$/)
    await page.keyboard.press('ArrowLeft')
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /: 5 requests, 1 late$/)
  })

  test('covers the chosen months, which are in its address', async () => {
    await page.getByLabel('To', { exact: true }).selectOption(nameOf(month - 2))
    await page.getByText('All', { exact: true }).waitFor()
    await settled(page)
    assert.equal((await rows()).length, 5)
    await page.getByLabel('From', { exact: true }).selectOption(nameOf(month - 20))
    await page.getByRole('rowheader', { name: nameOf(month - 20) }).waitFor()
    assert.match(page.url(), new RegExp(`from=${formatMonth(month - 20)}&to=${formatMonth(month - 2)}`))
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download CSV' }).click()
    assert.match((await download).suggestedFilename(), /^lethe-requests-\d{4}-\d\d-to-\d{4}-\d\d\.csv$/)
    await page.goBack()
    await page.getByRole('rowheader', { name: nameOf(month - 20) }).waitFor({ state: 'detached' })
    await goTo(page, `/requests/report?from=${formatMonth(month - 9)}&to=${formatMonth(month - 5)}`)
    await page.getByText('No requests were received in').waitFor()
    await assertAccessible(page, 'an empty report')
  })

  test('fits a phone, and prints as a table without controls', async () => {
    await goTo(page, '/requests/report')
    await page.setViewportSize({ width: 360, height: 740 })
    assert.ok((await overflowOf(page)) <= 0)
    await assertAccessible(page, 'a report on a phone', { coloursAreKnown: true })
    await page.setViewportSize({ width: 680, height: 900 })
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.getByLabel('From', { exact: true }).isVisible(), false)
    assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false)
    assert.equal(await page.getByRole('columnheader', { name: 'Median time' }).isVisible(), true)
    assert.ok((await overflowOf(page)) <= 0)
    await page.emulateMedia({ media: null })
    assert.deepEqual(complaints, [])
  })
})
