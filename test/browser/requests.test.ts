import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, Keyboard, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

const dayMs = 86_400_000

describe('the inbox of requests in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  await shop.ingest(visit('laptop', { identifiers: { email: 'ada@example.com' } }))
  const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')
  const nobody = await openConsole(shop, await shop.createOrganisation())
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, client, { hasTouch: true })
  const { page } = seat
  const keyboard = new Keyboard(page)
  const rows = page.locator('.request-row')

  /** Creates a request that was received this many days ago, and returns its ID. */
  async function create(reference: string, daysAgo: number, kind = 'erasure', value = 'ada@example.com') {
    const receivedAt = new Date(Date.now() - daysAgo * dayMs).toISOString()
    const person = { identifiers: [{ name: 'email', value }], subjects: [] }
    const body = { kind, person, reference, receivedAt }
    const { request } = dataOf(await client.ask('/requests', { method: 'POST', body }))
    return textIn(request, 'requestId')
  }

  const send = (requestId: string, verb: string, body = {}) =>
    client.ask(`/requests/${requestId}/${verb}`, { method: 'POST', body }).then(dataOf)

  test('is the first page of the console, with a message if it is empty', async () => {
    const empty = await openPage(browser, shop, nobody)
    await empty.page.goto('/console')
    await empty.page.getByRole('heading', { name: 'No open requests' }).waitFor()
    assert.equal(new URL(empty.page.url()).pathname, '/console/requests')
    await assertAccessible(empty.page, 'an empty inbox')
    await empty.page.getByRole('link', { name: /^Overdue/ }).click()
    await empty.page.getByRole('heading', { name: 'Nothing is overdue' }).waitFor()
    await empty.page.context().close()
  })

  test('shows what is due next first, with the days left in words', async () => {
    await create('later', 1, 'access')
    await create('over', 40, 'erasure', 'nobody@example.com')
    await create('soon', 26)
    const { member } = client
    await send(await create('mine', 12), 'assign', { memberId: member.id })
    await send(await create('gone', 3), 'cancel')
    await page.goto('/console')
    await settled(page)
    assert.deepEqual(await page.locator('.request-what strong').allInnerTexts(), [
      ...['over', 'soon', 'mine', 'later'],
    ])
    assert.deepEqual(await page.locator('.inbox h2').allInnerTexts(), [
      ...['Overdue', 'Due within 7 days', 'Due later'],
    ])
    const [over = '', soon = '', mine = ''] = await rows.allInnerTexts()
    assert.match(over, /^Erasure · received .*open\nnothing held\nunassigned\n\d+ days overdue/ms)
    assert.match(soon, /1 record\n.*[2-6] days left/ms)
    assert.match(mine, /A\nyou\n/)
    await page.getByRole('link', { name: 'Requests 1 overdue' }).waitFor()
    await assertAccessible(page, 'the inbox')
  })

  test('is filtered by view and kind, also with Back', async () => {
    const references = () => page.locator('.request-what strong').allInnerTexts()
    for (const [view, expected] of [
      ['Mine 1', ['mine']],
      ['Overdue 1', ['over']],
    ] as const) {
      await page.getByRole('link', { name: view, exact: true }).click()
      await settled(page)
      assert.deepEqual(await references(), expected)
    }
    await page.getByRole('link', { name: 'Closed', exact: true }).click()
    await page.getByRole('heading', { name: 'No closed requests' }).waitFor()
    await page.getByRole('radio', { name: 'Cancelled' }).check({ force: true })
    await page.getByText('gone', { exact: true }).waitFor()
    await page.goBack()
    await settled(page)
    assert.deepEqual(await references(), ['over'])
    await page.getByRole('link', { name: /^Open/ }).click()
    await page.getByRole('radio', { name: 'Access' }).check({ force: true })
    await page.getByText('soon', { exact: true }).waitFor({ state: 'detached' })
    await settled(page)
    assert.deepEqual(await references(), ['later'])
  })

  test('supports the arrow keys, and Enter opens a request', async () => {
    await goTo(page, '/requests')
    await rows.first().focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'soon', level: 1 }).waitFor()
  })

  test('warns that a reply must not promise an answer by a date that has passed', async () => {
    const due = page.getByText(/^The answer was due on .*\. If the text promises it by then,/)
    await goTo(page, '/requests')
    await page.getByText('soon', { exact: true }).click()
    await page.getByRole('button', { name: 'Copy reply' }).waitFor()
    assert.equal(await due.count(), 0)
    await goTo(page, '/requests')
    await page.getByText('over', { exact: true }).click()
    await due.waitFor()
    await assertAccessible(page, 'the reply to an overdue request')
  })

  test('has pages, and does not find a request of another organisation', async () => {
    for (let i = 0; i < 50; i++) await create(`more ${i}`, 2)
    await goTo(page, '/requests')
    await page.getByRole('button', { name: 'Next' }).waitFor()
    assert.equal(await rows.count(), 50)
    await keyboard.press('Next')
    await page.getByText('Page 2').waitFor()
    await settled(page)
    assert.equal(await rows.count(), 4)
    const id = await create('theirs', 2)
    const other = await openPage(browser, shop, nobody)
    await other.page.goto(`/console/requests/${id}`)
    await other.page.getByRole('heading', { name: 'Not found' }).waitFor()
    await other.page.context().close()
  })

  test('promises a no-data certificate only for an identifier', async () => {
    const subjects = [{ trackerId: 'shop', subjectId: 'nobody' }]
    const body = { kind: 'access', person: { identifiers: [], subjects } }
    const { request } = dataOf(await client.ask('/requests', { method: 'POST', body }))
    await page.goto(`/console/requests/${textIn(request, 'requestId')}`)
    await keyboard.press('Close as answered')
    const checks = 'Nothing is held about this person. Lethe checks once more.'
    await page.getByText(checks, { exact: true }).waitFor()
    await keyboard.press('Close the request')
    await page.getByText('Closed in time', { exact: true }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Certificate' }).count(), 0)
  })

  test('promises no certificate if every record was excluded', async () => {
    await shop.ingest(visit('shared', { identifiers: { email: 'eve@example.com' } }))
    const id = await create('excluded', 1, 'erasure', 'eve@example.com')
    const record = { trackerId: 'shop', subjectId: 'shared' }
    await send(id, 'exclude', { ...record, reason: 'Somebody else’s device' })
    await page.goto(`/console/requests/${id}`)
    await page.getByText('No other records were found in any tracker').waitFor()
    await page.getByRole('button', { name: 'Confirm that nothing else is held' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Records that you excluded keep their data.').waitFor()
    assert.doesNotMatch(await dialog.innerText(), /certificate/)
    await dialog.getByRole('textbox').fill('0')
    await dialog.getByRole('button', { name: 'Check and confirm' }).click()
    await page.getByText('No other records were found.', { exact: true }).waitFor()
    assert.equal(await page.getByText('Nothing was held about this person').count(), 0)
  })

  test('moves the focus to the problem with the person of a new request', async () => {
    await page.goto('/console/requests?create=true')
    const dialog = page.getByRole('dialog', { name: 'New request' })
    await dialog.getByRole('button', { name: 'Create request' }).click()
    const problem = dialog.getByRole('alert')
    await problem.getByText('Person must name').waitFor()
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'alert')
    const group = dialog.getByRole('group', { name: 'Who they are' })
    const described = await group.getAttribute('aria-describedby')
    assert.equal(await problem.locator(`#${described}`).count(), 1)
    await assertAccessible(page, 'a new request about nobody')
  })

  test('fits a small phone', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await goTo(page, '/requests')
    assert.ok((await overflowOf(page)) <= 0)
    await assertAccessible(page, 'the inbox on a phone', { coloursAreKnown: true })
    await page
      .getByRole('navigation', { name: 'Console' })
      .getByRole('link', { name: /^Requests/ })
      .tap()
    await rows.first().tap()
    await page.getByRole('heading', { name: 'over', level: 1 }).waitFor()
    await settled(page)
    assert.ok((await overflowOf(page)) <= 0)
    assert.deepEqual(seat.complaints, [])
  })
})
