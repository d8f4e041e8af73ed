import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

describe('pages and actions in the search box of a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  await shop.ingest([...visit('Activist'), ...visit('other')])
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client, { hasTouch: true })
  const field = page.locator('#search-box')
  const options = page.getByRole('listbox').getByRole('option')
  const selected = page.locator('[role=listbox] [aria-selected=true]')

  test('are all listed with ⌘K or Ctrl+K, and open by the arrow keys and Enter', async () => {
    await page.goto('/console/settings')
    await settled(page)
    assert.equal(await field.getAttribute('aria-expanded'), 'false')
    await page.keyboard.press('ControlOrMeta+k')
    assert.equal(await field.getAttribute('aria-expanded'), 'true')
    assert.deepEqual(await options.allInnerTexts(), [
      ...['Requests', 'Trackers', 'Erasures', 'Activity', 'API keys', 'Members', 'Settings'],
      ...[
        'New request',
        'Create a tracker',
        'Create an API key',
        'Erase a list of people',
        'Report on requests',
        'Edit reply texts',
        'Invite a member',
        'Your account',
      ],
    ])
    assert.equal(await selected.count(), 0)
    await assertAccessible(page, 'the palette')
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown')
    assert.equal(await selected.innerText(), 'Erasures')
    assert.equal(await field.getAttribute('aria-activedescendant'), await selected.getAttribute('id'))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Erasures', level: 1 }).waitFor()
    assert.equal(await options.first().isVisible(), false)
  })

  test('are found by the start of a word, with matching people one key away', async () => {
    await page.keyboard.press('/')
    await page.keyboard.insertText('Activ')
    await page.getByRole('option', { name: 'Activist' }).waitFor()
    assert.equal(await selected.innerText(), 'Activity')
    await page.keyboard.press('ArrowUp')
    assert.equal(await selected.count(), 0)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Activ', level: 1, exact: true }).waitFor()
    await page.getByRole('link', { name: 'Activist' }).waitFor()
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.insertText('Activ')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor()
  })

  test('are omitted if the text matches no page or action', async () => {
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.insertText('nobody@example.com')
    await page.getByText('No people found.').waitFor()
    assert.match((await options.allInnerTexts()).join(), /^New request for nobody@example\.com\s+(Ctrl|⌘) ↵$/)
    assert.equal(await selected.count(), 0)
    await page.keyboard.press('Escape')
    assert.equal(await field.getAttribute('aria-expanded'), 'false')
    await page.keyboard.press('Escape')
    assert.equal(await field.inputValue(), '')
  })

  test('start actions: a tracker, a key, a list and a member', async () => {
    for (const [text, dialog] of [
      ['new req', 'New request'],
      ['create tracker', 'Create a tracker'],
      ['new key', 'Create an API key'],
      ['invite', 'Invite a member'],
    ] as const) {
      await page.keyboard.press('ControlOrMeta+k')
      await page.keyboard.insertText(text)
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: dialog }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      assert.equal(new URL(page.url()).search, '')
    }
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.insertText('erase a list')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Erase a list' }).waitFor()
  })

  test('work on a phone, by touch', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await goTo(page, '/keys')
    await field.tap()
    const members = page.getByRole('option', { name: 'Members' })
    await members.waitFor()
    assert.ok((await overflowOf(page)) <= 0)
    await members.tap()
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor()
    assert.deepEqual(complaints, [])
  })
})
