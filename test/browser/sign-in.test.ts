import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import { idleTimeoutMs, recentSignInMs } from '../../src/domain/sign-in.ts'
import { errorOf } from '../support/answers.ts'
import { addMember, openConsole, password, signedIn, signInToken, visitor } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { answered, goTo, Keyboard, noBrowser, openBrowser, openPage, signInAs } from './browser.ts'

describe('signing in with a browser, by keyboard alone', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  await shop.ingest(visit('anna'))
  const ben = await addMember(shop, shop.organisationId, 'ben@acme.example')
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop)
  const keyboard = new Keyboard(page)

  test('opens the requested page, and signs out again', async () => {
    await addMember(shop, shop.organisationId, 'ada@acme.example')
    await page.goto('/console/members')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await keyboard.type('E-mail address', 'ada@acme.example')
    await keyboard.type('Password', 'not the password')
    await page.keyboard.press('Enter')
    await page.getByText('The e-mail address or the password is incorrect.').waitFor()
    await keyboard.type('Password', password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Members' }).waitFor()
    assert.equal(await page.evaluate(() => document.cookie), '', 'scripts see no cookie')
    await keyboard.press(/^Account: ada@acme.example/)
    await keyboard.press('Sign out')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto('/console/keys')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('is refused after ten attempts, and possible again later', async () => {
    await goTo(page, '/sign-in')
    await keyboard.type('E-mail address', 'ben@acme.example')
    for (let i = 0; i < 9; i++) {
      const body = { email: 'ben@acme.example', password: `guess ${i}` }
      errorOf(await visitor(shop).ask('/sign-in', { method: 'POST', body }), 'unauthorized')
    }
    await keyboard.type('Password', 'guess 9')
    await page.keyboard.press('Enter')
    await page.getByText('The e-mail address or the password is incorrect.').waitFor()
    await keyboard.type('Password', password)
    await page.keyboard.press('Enter')
    await page.getByText('Too many attempts. Try again in 15 minutes.').waitFor()
    shop.passTime(15 * 60_000)
    await keyboard.type('Password', password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
  })

  test('expires after inactivity; signing in again returns to the same page', async () => {
    // A later request would notice the expired session before the keyboard does.
    await answered(page)
    shop.passTime(idleTimeoutMs)
    await keyboard.press('API keys')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await keyboard.type('E-mail address', 'ben@acme.example')
    await keyboard.type('Password', password)
    await page.keyboard.press('Enter')
    // The page is there from the start, behind the dialog.
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.getByText('key-2').waitFor()
  })

  test('ends in every tab of the browser, which clears the pages', async () => {
    const other = await page.context().newPage()
    await other.goto('/console/trackers/shop/subjects/anna')
    await other.getByRole('heading', { name: 'Sessions and events' }).waitFor()
    await other.getByLabel('Search people').fill('ada@example.com')
    await page.goto('/console/keys')
    await keyboard.press(/^Account: ben@acme.example/)
    await keyboard.press('Sign out')
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal((await other.content()).includes('anna'), false)
    await signInAs(page, await signedIn(shop, ben), shop.url)
    await other.goto('/console/members')
    await other.getByText('ada@acme.example').waitFor()
    // Another member signs in here, which clears the other tab too.
    await page.goto('/console/sign-in')
    await keyboard.type('E-mail address', 'ada@acme.example')
    await keyboard.type('Password', password)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Account: ada@/ }).waitFor()
    await other.getByRole('button', { name: /^Account: ada@/ }).waitFor()
    await other.close()
    await signInAs(page, await signedIn(shop, ben), shop.url)
    await page.goto('/console/keys')
    await page.getByText('key-2').waitFor()
  })

  test('leaves a request that waits for a proof of identity to its member', async () => {
    const verifiedAt = Date.now() - recentSignInMs - 60_000
    const cookie = `lethe-console=${await signInToken(shop, ben, { verifiedAt })}`
    await signInAs(page, { cookie }, shop.url)
    await page.goto('/console/members?create=true')
    await page.getByRole('dialog').getByLabel('E-mail address').fill('carla@acme.example')
    await page.getByRole('button', { name: 'Create the link' }).click()
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor()
    const other = await page.context().newPage()
    await other.goto('/console/sign-in')
    await other.getByLabel('E-mail address').fill('ada@acme.example')
    await other.getByLabel('Password', { exact: true }).fill(password)
    const changes: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') changes.push(request.url())
    })
    await other.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Account: ada@/ }).waitFor()
    assert.deepEqual(changes, [])
    await other.close()
    await signInAs(page, await signedIn(shop, ben), shop.url)
    await page.goto('/console/keys')
    await page.getByText('key-2').waitFor()
  })

  test('ends everywhere immediately on request', async () => {
    const there = await signedIn(shop, ben)
    assert.equal((await there.ask('/members')).status, 200)
    await keyboard.press(/^Account: /)
    await keyboard.press('Sign out everywhere')
    await page.getByText('API keys keep working.').waitFor()
    await keyboard.press('Sign out everywhere')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    errorOf(await there.ask('/members'), 'unauthorized')
  })

  test('pages of another organisation say that nothing exists, for any ID in the address', async () => {
    const strangers = await shop.createOrganisation()
    await signInAs(page, await openConsole(shop, strangers), shop.url)
    await page.goto('/console/keys')
    await page.getByText('No keys yet').waitFor()
    for (const path of ['/trackers/shop', '/trackers/shop/subjects/anna']) {
      await goTo(page, path)
      await page.getByText('Not found').first().waitFor()
      assert.equal(await page.getByText('Not found', { exact: true }).count(), 1, 'and say it once')
    }
    const refused = await page.evaluate(
      async ([keyId]) => {
        const ask = async (path: string, body?: object) =>
          (
            await fetch(`/console/api${path}`, {
              ...(body && {
                method: 'POST',
                headers: { 'Content-Type': 'application/json' },
                body: JSON.stringify(body),
              }),
            })
          ).status
        return [
          await ask('/trackers/shop/subjects'),
          await ask('/trackers/shop/subjects/anna'),
          await ask('/trackers/shop/subjects/anna/export'),
          await ask(`/keys/${keyId}/rotate`, {}),
          await ask(`/keys/${keyId}/revoke`, { name: 'key-2' }),
        ]
      },
      [shop.keyId],
    )
    assert.deepEqual(refused, [404, 404, 404, 404, 404])
    assert.equal((await shop.ask(subjectPath('anna'), { key: shop.key })).status, 200)
  })

  test('a page of another origin cannot change anything in the member’s browser', async (t) => {
    const evil = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html')
      response.end(
        '<!doctype html><title>Win a prize</title><form method="post" enctype="text/plain"></form>',
      )
    })
    t.after(() => void evil.close())
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
    const address = evil.address()
    assert.ok(address !== null && typeof address === 'object')
    await signInAs(page, await openConsole(shop, shop.organisationId), shop.url)
    await page.goto(`http://127.0.0.1:${address.port}/`)
    const before = (await shop.services.trackers.list(shop.organisationId)).length
    for (const type of ['text/plain', 'application/json']) {
      await page.evaluate(
        async ([url, type]) => {
          const body = '{"name":"Planted"}'
          const headers = { 'Content-Type': type ?? '' }
          const mode = type === 'text/plain' ? ('no-cors' as const) : ('cors' as const)
          await fetch(`${url}/console/api/trackers`, {
            method: 'POST',
            credentials: 'include',
            mode,
            headers,
            body,
          }).catch(() => {})
        },
        [shop.url, type],
      )
    }
    await page.evaluate((url) => {
      const form = document.querySelector('form')
      if (form) form.action = `${url}/console/api/trackers`
      form?.submit()
    }, shop.url)
    await page.getByText('did not come from a page of this console').waitFor()
    assert.equal((await shop.services.trackers.list(shop.organisationId)).length, before)
  })
})
