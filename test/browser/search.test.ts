import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { hideByPlan } from '../support/windows.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, Keyboard, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

const email = 'ada@example.com'
const label = 'Search people by e-mail address, identifier or ID, or go to a page'

describe('searching for a person in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  await shop.createTracker(shop.organisationId, 'weblog')
  await shop.ingest([
    ...visit('laptop', { identifiers: { email, userId: '42' } }),
    ...visit('phone', { identifiers: { email } }),
    ...visit('reader', { trackerId: 'weblog', identifiers: { email: 'Ada@Example.com' } }),
    ...visit('phone', { trackerId: 'weblog' }),
    ...visit('other', { identifiers: { email: 'ben@example.com', device: 'laptop' } }),
    ...visit('a@b=c', {}),
    ...Array.from({ length: 210 }, (_, i) =>
      visit(`crowd-${i}`, { identifiers: { userId: 'crowd' } }),
    ).flat(),
  ])
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, client, { hasTouch: true })
  const { page } = seat
  const keyboard = new Keyboard(page)

  /** Searches by keyboard from any page, and returns the results by tracker. */
  async function find(text: string): Promise<Record<string, string[]>> {
    await keyboard.type(label, text)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: text.trim(), level: 1, exact: true }).waitFor()
    await settled(page)
    const found: Record<string, string[]> = {}
    for (const section of await page.locator('div.found').all()) {
      const tracker = await section.getByRole('heading').innerText()
      found[tracker] = (await section.getByRole('rowheader').allInnerTexts()).sort()
    }
    return found
  }

  test('works from every page, by an address in any case, and shows the results by tracker', async () => {
    await page.goto('/console')
    for (const path of ['/trackers/shop', '/nothing']) {
      await goTo(page, path)
      assert.deepEqual(await find('ADA@example.com'), { weblog: ['reader'], shop: ['laptop', 'phone'] })
    }
    await page.getByText('3 data subjects on 2 trackers').waitFor()
    await assertAccessible(page, 'what was found')
  })

  test('links to each data subject, and back to the results', async () => {
    await keyboard.press('laptop')
    await page.getByRole('heading', { name: 'laptop', level: 1 }).waitFor()
    await page.goBack()
    await page.getByText('3 data subjects on 2 trackers').waitFor()
  })

  test('works by another identifier, and by an ID on all trackers', async () => {
    assert.deepEqual(await find('userId=42'), { shop: ['laptop'] })
    assert.deepEqual(await find(' phone '), { weblog: ['phone'], shop: ['phone'] })
    assert.deepEqual(await find('lap'), { shop: ['laptop'] }, 'its beginning will do')
    assert.deepEqual(await find('a@b=c'), { shop: ['a@b=c'] }, 'an id may look like an address')
    assert.equal((await find('userId=crowd')).shop?.length, 210)
    await goTo(page, '/keys')
  })

  test('links to the page of a person, but not for IDs that only start with the text', async () => {
    const open = page.getByRole('link', { name: 'Open this person' })
    await find('crowd-2')
    assert.equal(await open.count(), 1, 'the complete id')
    await find('crowd-20')
    // Few rows, because axe takes a second for hundreds of similar ones.
    await assertAccessible(page, 'ids that begin alike')
    await find('crowd-209')
    await page.getByRole('heading', { name: 'IDs that start with' }).waitFor({ state: 'detached' })
    await find('crowd-1')
    await page.getByRole('heading', { name: 'IDs that start with' }).waitFor()
    assert.equal(await open.count(), 1)
    await find('crowd-')
    assert.equal(await open.count(), 0)
    await page.getByRole('button', { name: 'Erase a list with these 210 IDs' }).click()
    await page.getByRole('heading', { name: 'Erase a list' }).waitFor()
    assert.equal((await page.getByLabel('List').inputValue()).split('\n').length, 210)
  })

  test('separates people who match the same text, and opens a person with very many records', async () => {
    await find('laptop')
    assert.deepEqual(await page.getByRole('heading', { level: 2 }).allInnerTexts(), [
      'Identifier device',
      'Data subject ID',
    ])
    assert.equal(await page.getByRole('link', { name: 'Open this person' }).count(), 2)
    await assertAccessible(page, 'two people')
    await find('crowd')
    await page.getByRole('link', { name: 'Open this person' }).click()
    await page.getByText('200 records on 1 tracker, and more').waitFor()
    await goTo(page, '/keys')
  })

  test('says what the plan hides', async () => {
    const { organisations } = shop.services
    await organisations.setPlan(shop.organisationId, 'pro')
    const startedAt = Date.now() - 300 * 86_400_000
    await shop.ingest(visit('faded', { startedAt, identifiers: { email: 'faded@example.com' } }))
    await hideByPlan(shop)
    assert.deepEqual(await find('faded@example.com'), {})
    await page.getByText('Your plan hides 1 data subject of this person').waitFor()
    await page.getByRole('link', { name: 'Open this person' }).click()
    await page.getByText('All data about this person is hidden by your plan.').waitFor()
    await goTo(page, '/requests/erase-list')
    await keyboard.type('List', 'faded')
    await keyboard.type('Reference', 'Faded')
    await keyboard.press('Preview matches')
    await page.getByText('Your plan hides 1 of them.').waitFor()
  })

  test('explains what can be searched for if there are no results', async () => {
    for (const text of ['nobody@example.com', '.', 'x'.repeat(300)]) {
      assert.deepEqual(await find(text), {})
      await page.getByRole('heading', { name: 'No results' }).waitFor()
      await page.getByText('Enter an e-mail address, another identifier').waitFor()
    }
    await assertAccessible(page, 'nobody found')
  })

  test('shows an error, and retries', async () => {
    const error = { code: 'internal_error', message: 'Something went wrong on our side.' }
    await page.route('**/console/api/find', (route) =>
      route.fulfill({ status: 500, json: { error, meta: { requestId: 'req-500' } } }),
    )
    await keyboard.type(label, email)
    await page.keyboard.press('Enter')
    await page.getByText('Loading failed').waitFor()
    await page.unroute('**/console/api/find')
    await keyboard.press('Try again')
    await page.getByText('3 data subjects on 2 trackers').waitFor()
  })

  test('leaves nothing in the address, and nothing after a reload', async () => {
    assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/console/search')
    // The digest in the name of a file may contain any letters.
    for (const address of seat.requested.filter((each) => !each.includes('/console/assets/'))) {
      assert.ok(!/example\.com|ada|userId|crowd/i.test(decodeURIComponent(address)), address)
    }
    await page.reload()
    await page.getByRole('heading', { name: 'Search for a person' }).waitFor()
    assert.equal((await page.content()).includes(email), false)
    assert.deepEqual(seat.complaints, [])
  })

  test('suggests while typing, by keyboard alone', async () => {
    await goTo(page, '/members')
    await page.keyboard.press('/')
    await page.keyboard.insertText('ADA@example.com')
    const options = page.getByRole('listbox', { name: 'Search results' }).getByRole('option')
    await page.getByRole('option', { name: 'reader' }).waitFor()
    assert.deepEqual(
      await page
        .getByRole('listbox')
        .getByRole('group')
        .evaluateAll((all) => all.map((each) => each.ariaLabel)),
      ['This person', 'shop', 'weblog'],
    )
    await assertAccessible(page, 'suggestions')
    const marked = () => page.locator('[role=option][aria-selected=true]').allInnerTexts()
    const field = page.getByLabel(label)
    assert.equal(await field.getAttribute('aria-expanded'), 'true')
    await page.keyboard.press('ArrowDown')
    assert.match((await marked()).join(), /^New request for ADA@example.com/)
    await page.keyboard.press('ArrowDown')
    assert.match((await marked()).join(), /^(laptop|phone)\b/)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    assert.deepEqual(await marked(), [], 'above the first is the field')
    await page.keyboard.press('ArrowUp')
    assert.match((await marked()).join(), /^reader\b/)
    const id = await page.locator('[role=option][aria-selected=true]').getAttribute('id')
    assert.equal(await field.getAttribute('aria-activedescendant'), id)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'reader', level: 1 }).waitFor()
    await page.keyboard.press('ControlOrMeta+k')
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'search-box')
    await page.keyboard.insertText('crowd-')
    await page
      .getByRole('option', { name: /^crowd-/ })
      .nth(4)
      .waitFor()
    assert.equal(await options.count(), 5, 'a few of many')
    await page.keyboard.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'hidden' })
    assert.deepEqual(seat.complaints, [])
  })

  test('starts a request for the person in the text, even while earlier results are still listed', async () => {
    await goTo(page, '/members')
    await page.keyboard.press('/')
    await page.keyboard.insertText(email)
    await page.getByRole('option', { name: 'reader' }).waitFor()
    const isAsked = page.waitForRequest('**/console/api/find')
    await page.route('**/console/api/find', () => {})
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText('eve@example.com')
    await isAsked
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByRole('dialog', { name: 'New request' }).waitFor()
    assert.equal(await page.getByLabel('Value of identifier 1').inputValue(), 'eve@example.com')
    await page.unroute('**/console/api/find')
    await page.keyboard.press('Escape')
  })

  test('works on a phone, by touch', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await goTo(page, '/keys')
    const field = page.getByLabel(label)
    await field.fill(email)
    await page.getByRole('button', { name: 'Search', exact: true }).tap()
    await page.getByText('3 data subjects on 2 trackers').waitFor()
    const over = await overflowOf(page)
    assert.ok(over <= 0, `${over} pixels too wide`)
    const width = (await field.boundingBox())?.width ?? 0
    assert.ok(width >= 160, `the field is ${width} pixels wide`)
  })
})
