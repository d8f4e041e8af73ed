import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { recentSignInMs } from '../../src/domain/sign-in.ts'
import { dataOf, objectIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { hideByPlan } from '../support/windows.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('erasing a record or a person in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const env = { LETHE_BATCH_PACE: '1000000/second' }
  const shop = await startShop({ after }, { env, scopes: ['analytics:view'] })
  await shop.createTracker(shop.organisationId, 'weblog')
  const of = (email: string, ...ids: string[]) => ids.flatMap((id) => visit(id, { identifiers: { email } }))
  await shop.ingest([
    ...of('ada@example.com', 'laptop', 'phone'),
    ...visit('reader', { trackerId: 'weblog', identifiers: { email: 'ada@example.com', userId: '7' } }),
    ...visit('stranger', { identifiers: { userId: '8' } }),
    ...visit('fay'),
  ])
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, client)
  const { page } = seat
  const keyboard = new Keyboard(page)
  const isStored = async (id: string, trackerId = 'shop') =>
    (await shop.ask(subjectPath(id, trackerId), { key: shop.key })).status === 200
  const countOpen = async () => objectIn({ of: dataOf(await client.ask('/request-counts')) }, 'of').open

  test('of a record says what else is stored about the person, and links to it', async () => {
    await page.goto('/console/trackers/shop/subjects/stranger')
    await settled(page)
    await keyboard.press('Erase data')
    await page.getByText('1 session and 1 event are deleted from shop.').waitFor()
    assert.equal(await page.getByText('stay').count(), 0)
    await page.keyboard.press('Escape')
    await goTo(page, '/trackers/shop/subjects/laptop')
    await keyboard.press('Erase data')
    await page.getByText('2 other records in 2 trackers stay.').waitFor()
    await settled(page)
    await assertAccessible(page, 'what else there is')
    await keyboard.press('Open this person')
    await page.getByText('3 records on 2 trackers').waitFor()
    await page.goBack()
    await settled(page)
  })

  test('of a record is a request, and keeps the other records', async () => {
    await keyboard.press('Erase data')
    await keyboard.type(/^Type the ID/, 'laptop')
    await keyboard.press('Erase for good')
    await page.waitForURL(/\/console\/requests\/[0-9a-f-]{36}$/)
    await page.getByText('Closed in time').waitFor()
    await settled(page)
    assert.equal((await page.content()).includes('laptop'), false)
    assert.deepEqual(
      [await isStored('laptop'), await isStored('phone'), await isStored('reader', 'weblog')],
      [false, true, true],
    )
  })

  test('of a person starts with an access or erasure request, which the page of the person lists', async () => {
    await goTo(page, '/trackers/shop/subjects/phone')
    await keyboard.press('All data of this person')
    await page.getByText('2 records on 2 trackers').waitFor()
    const address = page.url()
    for (const [button, kind, reference] of [
      ['Export all', 'A copy of their data', 'DSR-7'],
      ['Erase all', 'Erasure', 'DSR-8'],
    ] as const) {
      await keyboard.press(button)
      assert.equal(await page.getByLabel('Value of identifier 1').inputValue(), 'ada@example.com')
      assert.equal(await page.getByRole('dialog').getByRole('radio', { name: kind }).isChecked(), true)
      await keyboard.type('Reference', reference)
      await keyboard.press('Create request')
      await page.getByRole('heading', { name: reference, level: 1 }).waitFor()
      await page.getByText('One person with 2 records').waitFor()
      await page.goBack()
      await page.getByRole('link', { name: reference }).waitFor()
      assert.equal(page.url(), address)
    }
    await settled(page)
    await assertAccessible(page, 'a person with requests')
    await page.getByRole('link', { name: 'DSR-8' }).click()
    await page.getByRole('heading', { name: 'DSR-8', level: 1 }).waitFor()
    await settled(page)
    await keyboard.press('Erase everything found')
    await keyboard.type(/^Type the number of records/, '2')
    await keyboard.press('Erase for good')
    await page.getByText('Closed in time').waitFor()
    assert.deepEqual([await isStored('phone'), await isStored('reader', 'weblog')], [false, false])
    await page.goto(address)
    await page.getByText('No data about this person is stored.').waitFor()
    await page.getByRole('link', { name: 'DSR-8' }).waitFor()
  })

  test('of a deleted record says so, and leaves no open request', async () => {
    await goTo(page, '/trackers/shop/subjects/fay')
    await keyboard.press('Erase data')
    await page.getByText('1 session and 1 event are deleted from shop.').waitFor()
    await keyboard.type(/^Type the ID/, 'fay')
    const other = await openPage(browser, shop, await openConsole(shop, shop.organisationId))
    await other.page.goto('/console/trackers/shop/subjects/fay')
    await settled(other.page)
    await other.page.getByRole('button', { name: 'Erase data' }).click()
    await other.page.getByLabel(/^Type the ID/).fill('fay')
    await other.page.getByRole('button', { name: 'Erase for good' }).click()
    await other.page.getByText('Closed in time').waitFor()
    await keyboard.press('Erase for good')
    await page.getByText('Nothing is stored in this record any more').waitFor()
    assert.equal(await countOpen(), 1, 'only DSR-7')
    assert.deepEqual([...seat.complaints, ...other.complaints], [])
  })

  test('of a record says what the plan hides, and erases it', async () => {
    const { organisations, subjects } = shop.services
    const view = { organisationId: shop.organisationId, trackerId: 'shop', since: 0 }
    const startedAt = Date.now() - 300 * 86_400_000
    await organisations.setPlan(shop.organisationId, 'pro')
    const identifiers = { userId: '9' }
    await shop.ingest([
      ...visit('recent', { identifiers }),
      ...visit('faded', { startedAt, identifiers }),
      ...visit('past', { startedAt }),
    ])
    const past = await openPage(browser, shop, await openConsole(shop, shop.organisationId))
    await past.page.goto('/console/trackers/shop/subjects/past')
    await settled(past.page)
    await hideByPlan(shop)
    await page.keyboard.press('Escape')
    await goTo(page, '/trackers/shop/subjects/recent')
    await keyboard.press('Erase data')
    await page.getByText('1 other record in 1 tracker stays.').waitFor()
    await page.getByText('It has the same userId. Your plan hides it.').waitFor()
    await keyboard.press('Open this person')
    await page.getByText('1 record on 1 tracker, and 1 hidden record').waitFor()

    await past.page.getByRole('button', { name: 'Erase data' }).click()
    await past.page.getByText('Your plan hides this record. Its data is still stored').waitFor()
    assert.ok(await subjects.read(view, 'past'))
    await past.page.getByLabel(/^Type the ID/).fill('past')
    await past.page.getByRole('button', { name: 'Erase for good' }).click()
    await past.page.getByText('Closed in time').waitFor()
    assert.equal(await subjects.read(view, 'past'), null)
    await past.page.context().close()
  })

  test('of a record leaves no open request if the member does not confirm their identity', async () => {
    await page.keyboard.press('Escape')
    await goTo(page, '/trackers/shop/subjects/stranger')
    await keyboard.press('Erase data')
    await page.getByText('1 session and 1 event are deleted from shop.').waitFor()
    await keyboard.type(/^Type the ID/, 'stranger')
    shop.passTime(recentSignInMs + 1_000)
    await keyboard.press('Erase for good')
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await proof.getByRole('button', { name: 'Cancel' }).click()
    await proof.waitFor({ state: 'detached' })
    shop.passTime(-recentSignInMs - 1_000)
    assert.equal(await countOpen(), 1, 'only DSR-7')
    assert.equal(await isStored('stranger'), true)
  })
})
