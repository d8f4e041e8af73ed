import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { commandLine } from '../../src/domain/activity.ts'
import { inviteMember } from '../../src/operations/member.ts'
import { password } from '../support/console.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { startShop, subjectsPath } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { type ConsolePage, goTo, Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

after(scryptOnce(16))

describe('the life of a key in a browser, by keyboard alone', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, null, { permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = seat
  const keyboard = new Keyboard(page)
  const statusOf = async (key: string) => (await shop.ask(subjectsPath, { key })).status
  const shown = () => page.getByLabel('Key', { exact: true }).inputValue()
  const strings: string[] = []

  test('starts with the one-time link of a member', async () => {
    const { token } = await inviteMember(
      shop.services,
      { organisationId: shop.organisationId, email: 'ada@acme.example' },
      commandLine,
    )
    await page.goto(`/console/join#${token}`)
    await page.getByText('ada@acme.example').waitFor()
    assert.equal(page.url().includes(token), false, 'the link has gone from the address')
    await keyboard.type('Password', 'too short')
    await page.keyboard.press('Enter')
    await page.getByText('Password must be 12 to 256 characters.').waitFor()
    await keyboard.type('Password', password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
  })

  test('is created with scopes and an expiry after the form is valid', async () => {
    await keyboard.press('API keys')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await keyboard.press('Create a key')
    await keyboard.press('Create the key')
    await page.getByText('Name must be 1 to 64 characters').waitFor()
    await page.getByText('A key needs at least one scope.').waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-invalid')), 'true')
    await keyboard.type('Name', 'privacy desk')
    await keyboard.press(/^analytics:view /, 'Space')
    await keyboard.reach('Expires')
    await page.keyboard.press('ArrowDown')
    await keyboard.press('Create the key')
    await page.getByText('It is shown only once').waitFor()
    strings.push(await shown())
    assert.equal(await statusOf(strings[0] ?? ''), 200)
  })

  test('is shown with a copy button and a working command', async () => {
    await keyboard.press('Copy key')
    await page.getByRole('button', { name: 'Copy key' }).getByText('Copied').waitFor()
    // Outside of the dialog, it would be behind it and inert.
    await page.getByRole('dialog').getByRole('status').getByText('Key copied').waitFor()
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), strings[0])
    const command = () => page.getByLabel('Command', { exact: true }).inputValue()
    // The command has a placeholder until the trackers have loaded.
    await until(async () => (await command()).includes('/shop/'))
    const line = await command()
    const [, key, address = ''] = /^curl -H 'Authorization: Bearer (\S+)' '(\S+)'$/.exec(line) ?? []
    assert.equal(key, strings[0])
    const response = await fetch(address, { headers: { authorization: `Bearer ${key}` } })
    assert.equal(response.status, 200)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    assert.equal(await shown(), strings[0], 'what is not shown again does not go by accident')
    await keyboard.press('I have stored the key')
    await page
      .getByRole('row', { name: /privacy desk/ })
      .getByText('active')
      .waitFor()
  })

  test('is rotated after a confirmation, and the old key stops working', async () => {
    await keyboard.choose('Actions for privacy desk', 'Rotate')
    await page
      .getByText(`The current key, which ends in ${strings[0]?.slice(-4)}, stops working immediately.`)
      .waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await statusOf(strings[0] ?? ''), 200)
    await keyboard.choose('Actions for privacy desk', 'Rotate')
    await keyboard.press('Rotate the key')
    await page.getByText('It is shown only once').waitFor()
    strings.push(await shown())
    assert.deepEqual([await statusOf(strings[0] ?? ''), await statusOf(strings[1] ?? '')], [401, 200])
    await keyboard.press('I have stored the key')
  })

  test('is found nowhere afterwards: in no response, page, storage or log', async () => {
    const answers: Promise<string>[] = []
    page.on('response', (response) => answers.push(response.text().catch(() => '')))
    const assertNowhere = async (where: string) => {
      const everything = await everythingIn(seat)
      for (const string of strings) assert.equal(everything.includes(string.slice(23)), false, where)
    }
    for (const path of ['/activity', '/members', '/trackers', '/keys']) {
      await goTo(page, path)
      await assertNowhere(path)
    }
    await page.reload()
    await settled(page)
    await assertNowhere('reloaded')
    const later = (await Promise.all(answers)).join('\n')
    assert.match(later, /privacy desk/)
    for (const string of strings) {
      assert.equal(later.includes(string.slice(23)), false)
      assert.equal(shop.logged.join('\n').includes(string.slice(23)), false)
    }
  })

  test('is revoked after its name is typed', async () => {
    await keyboard.choose('Actions for privacy desk', 'Revoke')
    await keyboard.type(/^Type the key’s name/, 'privacy')
    assert.equal(await page.getByRole('button', { name: 'Revoke the key' }).isDisabled(), true)
    await page.keyboard.press('Enter')
    assert.equal(await statusOf(strings[1] ?? ''), 200)
    await keyboard.type(/^Type the key’s name/, 'privacy desk')
    await keyboard.press('Revoke the key')
    await page
      .getByRole('row', { name: /privacy desk/ })
      .getByText('revoked')
      .waitFor()
    assert.equal(await statusOf(strings[1] ?? ''), 401)
    assert.equal(await page.getByRole('button', { name: 'Actions for privacy desk' }).count(), 0)
  })

  test('is in the activity, found by a request ID', async () => {
    await keyboard.press('Activity')
    for (const what of ['Key created', 'Key rotated', 'Key revoked', 'Signed in']) {
      await page.getByRole('rowheader', { name: what }).first().waitFor()
    }
    const row = page.getByRole('row', { name: /^Key revoked/ })
    const requestId = await row.getByRole('cell').last().innerText()
    await keyboard.type('Request ID', requestId)
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /^Key created privacy desk/ }).waitFor({ state: 'detached' })
    await row.waitFor()
    assert.equal(await page.getByRole('row').count(), 2)
    await keyboard.press('Clear filters')
    await page
      .getByRole('row', { name: /^Key created/ })
      .first()
      .waitFor()
    assert.deepEqual(seat.complaints, [])
  })
})

/** All content of a page: its elements, field values, and every storage of the browser. */
async function everythingIn({ page }: ConsolePage): Promise<string> {
  const held = await page.evaluate(async () => {
    const typed = [...document.querySelectorAll('input, textarea')].map((field) =>
      field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? field.value : '',
    )
    const stores = [localStorage, sessionStorage].map((store) => JSON.stringify({ ...store }))
    const databases = JSON.stringify(await indexedDB.databases())
    const kept = JSON.stringify(await caches.keys())
    return [
      document.documentElement.outerHTML,
      ...typed,
      ...stores,
      databases,
      kept,
      JSON.stringify(history.state),
    ]
  })
  return [...held, JSON.stringify(await page.context().cookies())].join('\n')
}
