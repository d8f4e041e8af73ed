import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, objectIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { requestDesk } from '../support/console-requests.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('a request whose response is lost, in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const env = { LETHE_BATCH_PACE: '1000000/second' }
  const shop = await startShop({ after }, { env, scopes: ['analytics:view'] })
  await shop.ingest(['laptop', 'phone'].flatMap((id) => visit(id)))
  const client = await openConsole(shop, shop.organisationId)
  const desk = requestDesk(client)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)
  const failure = page.getByText('The server cannot be reached.')

  /** The inbox shows requests with the same reference as one row. */
  const countOpen = async () => dataOf(await client.ask('/request-counts')).open

  /** Passes the next change at a path to the service, but drops the response. */
  async function loseAnswer(path: RegExp): Promise<void> {
    const isChange = (address: URL) => path.test(address.pathname)
    let isLost = false
    await page.route(isChange, async (route, request) => {
      if (isLost || request.method() !== 'POST') {
        await route.fallback()
        return
      }
      isLost = true
      const { pathname } = new URL(request.url())
      const body = request.postDataJSON()
      dataOf(await client.ask(pathname.replace('/console/api', ''), { method: 'POST', body }))
      await route.abort()
    })
  }

  const created = /\/console\/api\/requests$/

  test('is created once if the form is submitted again', async () => {
    await page.goto('/console/requests')
    await settled(page)
    await keyboard.press('New request')
    await page.getByLabel('Value of identifier 1').fill('ada@example.com')
    await keyboard.type('Reference', 'DSR-1')
    await loseAnswer(created)
    await keyboard.press('Create request')
    await failure.waitFor()
    assert.equal(await countOpen(), 1)
    await keyboard.press('Create request')
    await page.getByRole('heading', { name: 'DSR-1', level: 1 }).waitFor()
    assert.equal(await countOpen(), 1)
  })

  test('is a new one if the form has changed meanwhile', async () => {
    await page.goto('/console/requests')
    await settled(page)
    await keyboard.press('New request')
    await page.getByLabel('Value of identifier 1').fill('ben@example.com')
    await loseAnswer(created)
    await keyboard.press('Create request')
    await failure.waitFor()
    await keyboard.type('Reference', 'DSR-2')
    await keyboard.press('Create request')
    await page.getByRole('heading', { name: 'DSR-2', level: 1 }).waitFor()
    assert.equal(await countOpen(), 3)
  })

  for (const [subjectId, lost, what] of [
    ['laptop', created, 'created'],
    ['phone', /\/console\/api\/requests\/[^/]+\/erase$/, 'started'],
  ] as const) {
    test(`erases a record once if its erasure was ${what}`, async () => {
      const before = await desk.list('?state=all')
      await page.goto(`/console/trackers/shop/subjects/${subjectId}`)
      await settled(page)
      await keyboard.press('Erase data')
      await keyboard.type(/^Type the ID/, subjectId)
      await loseAnswer(lost)
      await keyboard.press('Erase for good')
      await failure.waitFor()
      await keyboard.press('Erase for good')
      await page.getByText('Closed in time').waitFor()
      const [id = '', ...others] = (await desk.list('?state=all')).filter((each) => !before.includes(each))
      assert.deepEqual(others, [])
      assert.deepEqual(objectIn(await desk.request(id), 'erased').subjects, 1)
      assert.equal((await shop.ask(subjectPath(subjectId), { key: shop.key })).status, 404)
      assert.deepEqual(complaints, [])
    })
  }
})
