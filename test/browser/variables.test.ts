import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Problems } from '../../src/domain/errors.ts'
import { parseVariables } from '../../src/domain/variable.ts'
import { editVariables } from '../../src/operations/variable.ts'
import { openConsole } from '../support/console.ts'
import { startShop } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { goTo, Keyboard, noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

describe('the variables of a tracker in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')
  const browser = await openBrowser({ after })
  const { page, requested, complaints } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)
  const editor = page.getByRole('textbox', { name: 'Variables as a JSON object' })
  const dialog = page.getByRole('dialog')
  const stored = async () => JSON.parse((await shop.services.variables.current('shop')).document)
  const isEditorLoaded = () => requested.some((address) => /\/editor-\w+\.js$/.test(address))

  /** Replaces the text of the editor, like pasting. */
  async function write(text: string): Promise<void> {
    await editor.focus()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText(text)
  }

  /** Saves variables as another user. */
  const saveElsewhere = (text: string) =>
    editVariables(shop.services, 'shop', {
      apply: () => parseVariables(text, new Problems()) ?? new Map(),
    })

  test('are reached from the tracker, explained, and start with an example', async () => {
    await page.goto('/console/trackers/shop')
    await settled(page)
    await keyboard.press('Variables')
    await page.getByText('No variables yet').waitFor()
    await settled(page)
    await assertAccessible(page, 'no variables')
    assert.equal(isEditorLoaded(), false, 'only the editor needs its script')
    await keyboard.press('Start with an example')
    await editor.waitFor()
    assert.equal(isEditorLoaded(), true)
    assert.match(await editor.innerText(), /"checkout\.enabled": true/)
  })

  test('are validated while typing, with the line and the reason', async () => {
    for (const [text, line, reason] of [
      ['{\n  "colour": "red",\n}', 2, 'No “,” may precede “}”.'],
      ['{\n  "a": 1,\n  "a": 2\n}', 3, 'The name “a” is repeated.'],
      ['{\n  "1a": 1\n}', 2, 'A name is a letter'],
      [`{"a": "${'x'.repeat(65 * 1024)}"}`, 1, 'more than 64 KiB.'],
      ['{"a": red}', 1, 'text is written in double quotes.'],
    ] as const) {
      await write(text)
      await page.getByRole('status').getByText(reason).waitFor()
      await page.getByRole('button', { name: `Line ${line}`, exact: true }).waitFor()
    }
    await assertAccessible(page, 'a document with a problem')
    await keyboard.press('Review changes')
    assert.equal(await dialog.count(), 0)
  })

  test('are reviewed and saved', async () => {
    await write('{\n  "colour": "red",\n  "limits": {"items": 3}\n}')
    await page.getByRole('button', { name: /^Line / }).waitFor({ state: 'detached' })
    await keyboard.press('Review changes')
    await dialog.getByText('Every reader sees the new values with its next request.').waitFor()
    assert.deepEqual(await dialog.getByRole('heading', { level: 3 }).allInnerTexts(), [
      'Added\ncolour',
      'Added\nlimits',
    ])
    await keyboard.press('Save version 1')
    await page.getByText('Saved version 1').waitFor()
    assert.deepEqual(await stored(), { colour: 'red', limits: { items: 3 } })
    await write('{"colour": "blue", "size": 1}')
    await keyboard.press('Review changes')
    assert.match(await dialog.innerText(), /Changed\s+colour\s+Old value\s+"red"\s+New value\s+"blue"/)
    assert.match(await dialog.innerText(), /Removed\s+limits[\s\S]*Added\s+size/)
    await assertAccessible(page, 'a review of changes')
    await keyboard.press('Save version 2')
    const row = page.getByRole('row', { name: /^Version 2/ })
    await row.getByText('1 added, 1 changed, 1 removed').waitFor()
    assert.match(await row.innerText(), /current[\s\S]*ada@acme\.example[\s\S]*just now/)
    assert.match((await row.getByRole('time').getAttribute('title')) ?? '', / UTC$/)
  })

  test('do not overwrite the changes of others, who are named', async () => {
    await write('{"colour": "green"}')
    await saveElsewhere('{"colour": "grey"}')
    await keyboard.press('Review changes')
    await keyboard.press('Save version 3')
    await dialog.getByText(/saved version 3 just now\. Your changes are based on version 2/).waitFor()
    assert.match(await dialog.innerText(), /Command line/)
    assert.deepEqual(await stored(), { colour: 'grey' })
    await keyboard.press('Compare with version 3')
    assert.match(await dialog.innerText(), /Old value\s+"grey"\s+New value\s+"green"/)
    await page.keyboard.press('Escape')
    await saveElsewhere('{"colour": "black"}')
    await keyboard.press('Review changes')
    await keyboard.press('Save version 4')
    await keyboard.press('Discard and load version 4')
    await page.getByRole('button', { name: 'Review changes' }).and(page.locator(':disabled')).waitFor()
    assert.match(await editor.innerText(), /"colour": "black"/)
  })

  test('are not discarded without asking', async () => {
    await editor.focus()
    // A link that is clicked immediately, before the browser has rendered the typed text.
    await page.evaluate(async () => {
      document.execCommand('insertText', false, ' ')
      await new Promise((resolve) => setTimeout(resolve))
      for (const link of document.querySelectorAll('a')) if (link.innerText === 'Activity') link.click()
    })
    await dialog.getByText('Your changes have not been saved.').waitFor()
    await page.keyboard.press('Escape')
    await write('{"colour": "unsaved"}')
    await keyboard.press('Activity')
    await dialog.getByText('Your changes have not been saved.').waitFor()
    await page.keyboard.press('Escape')
    await page.goBack()
    await dialog.getByText('Your changes have not been saved.').waitFor()
    assert.match(page.url(), /\/variables$/)
    await page.keyboard.press('Escape')
    await keyboard.press(/^Account: /)
    await keyboard.press('Sign out')
    await dialog.getByText('Your changes have not been saved.').waitFor()
    await page.keyboard.press('Escape')
    assert.match(await editor.innerText(), /unsaved/)
    await page.goBack()
    await keyboard.press('Discard changes')
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor()
    await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')))
    assert.equal(await dialog.count(), 0)
  })

  test('are restored to an earlier version', async () => {
    await goTo(page, '/trackers/shop/variables')
    await keyboard.press('View changes of version 2')
    await dialog.getByRole('heading', { name: /limits/ }).waitFor()
    assert.match(await dialog.innerText(), /Old value\s+"red"\s+New value\s+"blue"/)
    await page.keyboard.press('Escape')
    await keyboard.press('Restore version 1')
    await dialog.getByRole('heading', { name: 'Restore version 1' }).waitFor()
    await keyboard.press('Save version 5')
    await page.getByRole('row', { name: /^Version 5 current/ }).waitFor()
    assert.deepEqual(await stored(), { colour: 'red', limits: { items: 3 } })
    assert.match(await editor.innerText(), /"colour": "red"/)
  })

  test('are read with a token, which is shown once with a snippet, and revoked', async () => {
    await keyboard.press('Create a token')
    await keyboard.type('Name', 'web shop')
    await page.keyboard.press('Enter')
    await page.getByText('It is shown only once').waitFor()
    await assertAccessible(page, 'a token, shown once')
    const token = await page.getByLabel('Token', { exact: true }).inputValue()
    const url = `${shop.url}/v1/variables?token=${token}`
    assert.ok((await page.getByLabel('Snippet', { exact: true }).inputValue()).includes(`fetch('${url}')`))
    assert.equal(await page.getByLabel('Command', { exact: true }).inputValue(), `curl '${url}'`)
    const answer = await fetch(url)
    assert.partialDeepStrictEqual(await answer.json(), { data: { variables: await stored(), version: 5 } })
    await keyboard.press('I have stored the token')
    assert.equal((await page.content()).includes(token.slice(26)), false)
    await keyboard.choose('Actions for web shop', 'Rotate')
    await dialog.getByText('stops working immediately').waitFor()
    await page.keyboard.press('Escape')
    await keyboard.choose('Actions for web shop', 'Revoke')
    await keyboard.type(/^Type the token’s name/, 'web shop')
    await keyboard.press('Revoke the token')
    await page
      .getByRole('row', { name: /web shop/ })
      .getByText('revoked')
      .waitFor()
    assert.equal((await fetch(url)).status, 401)
    await assertAccessible(page, 'variables with versions and tokens')
  })

  test('fit a small screen, and did not violate the policy', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    assert.ok((await overflowOf(page)) <= 0)
    assert.deepEqual(complaints, [])
  })
})
