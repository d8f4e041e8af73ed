import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { commandLine } from '../../src/domain/activity.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { inviteMember } from '../../src/operations/member.ts'
import { addMember, openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('every page of the console', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  await shop.ingest([
    ...visit('anna', { events: 3, attributes: { country: 'DE' } }),
    ...visit('ben'),
    ...visit('carla'),
  ])
  const { organisationId } = shop
  await shop.createTracker(organisationId, 'waiting')
  const view = { organisationId, trackerId: 'shop', since: 0 }
  await eraseSubject(shop.services, view, 'carla')
  const client = await openConsole(shop, organisationId, 'ada@acme.example')
  await addMember(shop, organisationId)
  const nobody = await openConsole(shop, await shop.createOrganisation())
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, client, { hasTouch: true })
  const empty = await openPage(browser, shop, nobody)
  for (const { page } of [seat, empty]) {
    await page.goto('/console/requests')
    await settled(page)
  }

  /** Opens a page and waits until it has loaded. */
  async function open(path: string, { page } = seat): Promise<Page> {
    await goTo(page, path)
    return page
  }

  test('requests six files, the session and its data, each once', async () => {
    await seat.page.waitForLoadState('networkidle')
    const asked = seat.requested.map((address) =>
      address.replace(shop.url, '').replace(/-[0-9a-f]{10}\./, '.'),
    )
    // Browsers may or may not request the icon.
    assert.deepEqual(asked.filter((path) => !path.endsWith('.svg')).toSorted(), [
      ...['/console/api/request-counts', '/console/api/requests?limit=50', '/console/api/session'],
      ...['app.css', 'app.js', 'chunk.js', 'inter.woff2', 'theme.js'].map(
        (name) => `/console/assets/${name}`,
      ),
      '/console/requests',
    ])
  })

  // Other pages are checked in their own tests, with more content.
  test('is accessible in light and dark', async () => {
    for (const path of [
      '/requests?view=closed',
      '/trackers',
      '/trackers/shop?days=365',
      '/trackers/waiting',
      '/trackers/shop/subjects/anna',
      '/erasures',
      '/activity',
      '/members',
      '/settings',
      '/search',
      '/nothing',
    ]) {
      await assertAccessible(await open(path), path)
    }
  })

  test('is accessible when it is empty or shows an error', async () => {
    for (const path of [
      '/trackers',
      '/keys',
      '/activity?request=none',
      '/requests/erase-list',
      '/trackers/shop/subjects/anna',
    ]) {
      await assertAccessible(await open(path, empty), `${path}, empty`)
    }
  })

  test('is accessible without a session', async () => {
    const invited = await inviteMember(
      shop.services,
      { organisationId, email: 'new@acme.example' },
      commandLine,
    )
    await empty.page.getByRole('button', { name: /^Account: / }).click()
    await empty.page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await empty.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    for (const path of ['/sign-in?org=acme', `/join#${invited.token}`, '/join#nonsense']) {
      await open('/nothing', empty)
      await assertAccessible(await open(path, empty), path.slice(0, 6))
    }
  })

  test('has accessible dialogs and menus', async () => {
    const keyboard = new Keyboard(await open('/keys'))
    const { page } = seat
    const look = async (what: string) => {
      await settled(page)
      await assertAccessible(page, what)
    }
    await keyboard.press('Create a key')
    await keyboard.press('Create the key')
    await page.getByText('A key needs at least one scope.').waitFor()
    await look('a form with problems')
    await keyboard.type('Name', 'looks')
    await keyboard.press(/^analytics:view /, 'Space')
    await keyboard.press('Create the key')
    await page.getByText('It is shown only once').waitFor()
    await look('a key, shown once')
    await keyboard.press('I have stored the key')
    await keyboard.choose('Actions for looks', 'Rotate')
    await look('a confirmation')
    await page.keyboard.press('Escape')
    await keyboard.choose('Actions for looks', 'Revoke')
    await look('a confirmation by typing')
    await page.keyboard.press('Escape')
    await keyboard.press(/^Account: /)
    await look('the account’s menu')
    await page.keyboard.press('Escape')
    await open('/members')
    await keyboard.press('Invite a member')
    await keyboard.type('E-mail address', 'ben@acme.example')
    await page.keyboard.press('Enter')
    await page.getByLabel('Link', { exact: true }).waitFor()
    await look('a link, shown once')
  })

  test('has a menu on a small screen, and is accessible there', async () => {
    const page = await open('/erasures/certificates/1')
    await page.setViewportSize({ width: 360, height: 740 })
    await assertAccessible(page, 'small', { coloursAreKnown: true })
    await page.getByRole('button', { name: /^Account: / }).tap()
    const more = page.getByRole('navigation', { name: 'More' })
    await more.waitFor()
    await assertAccessible(page, 'small, with the menu', { coloursAreKnown: true })
    await more.getByRole('link', { name: 'Members' }).tap()
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor()
    await more.waitFor({ state: 'hidden' })
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  test('remembers the chosen theme', async () => {
    const page = await open('/keys')
    const keyboard = new Keyboard(page)
    await page.emulateMedia({ colorScheme: 'light' })
    await keyboard.press(/^Account: /)
    await keyboard.reach('System')
    await page.keyboard.press('ArrowLeft')
    const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)
    assert.equal(await scheme(), 'dark')
    await page.reload()
    assert.equal(await scheme(), 'dark')
  })

  test('requested nothing from other origins, and did not violate its policy', async () => {
    for (const { requested, complaints } of [seat, empty]) {
      assert.ok(requested.length > 10)
      for (const address of requested) assert.ok(address.startsWith(`${shop.url}/`), address)
      assert.deepEqual(complaints, [])
    }
  })
})
