import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Locator, Page, Request } from 'playwright-core'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { Keyboard, noBrowser, openBrowser, openPage, overflowOf } from './browser.ts'

const browser = noBrowser ? null : await openBrowser({ after })

describe('the API reference', { skip: noBrowser }, async () => {
  if (!browser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const { page, requested, complaints } = await openPage(browser, shop, null, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await page.goto('/docs', { waitUntil: 'networkidle' })
  const [wide, small] = [
    { width: 1280, height: 720 },
    { width: 360, height: 740 },
  ]

  test('requests nothing from other origins, and does not violate its policy', () => {
    assert.equal(new Set(requested).size, 4)
    for (const address of requested) assert.ok(address.startsWith(`${shop.url}/docs`), address)
    assert.deepEqual(complaints, [])
  })

  test('puts its own address into the examples, and copies them', async () => {
    await new Keyboard(page).press('Copy')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    assert.ok(copied.startsWith(`export LETHE_URL=${shop.url}\n`), copied)
  })

  test('marks the current section in the contents', async () => {
    await page.goto('/docs#readSubject')
    const current = page.locator('.contents a[aria-current]')
    await current.and(page.locator('[href="#readSubject"]')).waitFor()
    assert.equal(await current.count(), 1)
  })

  test('fits a small screen without overflowing', async () => {
    await page.setViewportSize(small)
    const over = await overflowOf(page)
    assert.ok(over <= 0, `${over} pixels too wide`)
  })

  test('opens its contents on a small screen, and collapses them after a click', async () => {
    const link = contents(page).getByRole('link', { name: 'Erase a data subject, for good' })
    assert.equal(await link.isVisible(), false)
    await page.getByText('Contents', { exact: true }).click()
    await link.click()
    assert.equal(await link.isVisible(), false)
    assert.ok(await page.locator('#eraseSubject h3').isVisible())
    await page.waitForFunction(
      () => (document.querySelector('#eraseSubject')?.getBoundingClientRect().top ?? 9_999) < 200,
    )
  })

  test('can be read without JavaScript, including the contents', async () => {
    const { page } = await openPage(browser, shop, null, { javaScriptEnabled: false })
    await page.goto('/docs#errors.rate_limited')
    const link = contents(page).getByRole('link', { name: 'GET List the data subjects of a tracker' })
    assert.ok(await link.isVisible())
    assert.ok(await page.locator('#errors\\.rate_limited').isVisible())
    assert.equal(await page.getByRole('button').count(), 0)
  })

  test('is accessible in light and dark, wide and narrow', async () => {
    await page.setViewportSize(wide)
    await assertAccessible(page, 'all of it', { coloursAreKnown: true })
    await page.evaluate(keepOneOfEachKind)
    await assertAccessible(page, 'one of each kind')
    await page.setViewportSize(small)
    await assertAccessible(page, 'narrow', { coloursAreKnown: true })
  })

  test('has the theme chosen in the console', async () => {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.evaluate(() => localStorage.setItem('lethe-theme', 'dark'))
    await page.reload()
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'dark')
  })
})

describe('Try it on the API reference', { skip: noBrowser }, async () => {
  if (!browser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
  await shop.ingest([...visit('anna/1', { events: 3 }), ...visit('ben')])
  const { page, requested, complaints } = await openPage(
    browser,
    shop,
    await openConsole(shop, shop.organisationId),
  )
  const sent: Request[] = []
  page.on('request', (request) => {
    if (request.url().includes('/v1/')) sent.push(request)
  })
  await page.goto('/docs')
  await page.evaluate(keepOperations, [
    ...['readSubject', 'listEvents', 'searchSubjects', 'eraseSubject', 'exportSubject', 'readLedger'],
  ])
  const keyboard = new Keyboard(page)

  /** Opens the form of an operation with the keyboard. */
  async function open(operation: string): Promise<Locator> {
    const section = page.locator(`#${operation}`)
    await section.getByText('Try it', { exact: true }).focus()
    if (
      !(await section
        .locator('details')
        .getAttribute('open')
        .then((value) => value !== null))
    )
      await page.keyboard.press('Enter')
    return section
  }

  /** Sends a form and returns the response as shown. */
  async function send(section: Locator, button = 'Send request'): Promise<string> {
    const answer = section.locator('[aria-live]')
    await answer.evaluate((element) => element.replaceChildren())
    await section.getByRole('button', { name: button }).press('Enter')
    await answer.locator('pre').waitFor()
    return answer.innerText()
  }

  test('sends a request with only the key and encoded IDs, and shows the response', async () => {
    const section = await open('readSubject')
    await section.getByLabel('API key').fill(shop.key)
    await section.getByLabel('trackerId').fill('shop')
    await section.getByLabel('subjectId').fill('anna/1')
    const told = await send(section)
    assert.match(told, /^200 /)
    assert.match(told, /"subjectId": "anna\/1"/)
    const request = sent.at(-1) ?? assert.fail('nothing was sent')
    assert.equal(new URL(request.url()).pathname, '/v1/analytics/trackers/shop/subjects/anna%2F1')
    const { authorization, cookie } = await request.allHeaders()
    assert.deepEqual([authorization, cookie], [`Bearer ${shop.key}`, undefined])
  })

  test('shares the key between operations, omits empty fields, and shows refusals', async () => {
    const section = await open('listEvents')
    assert.equal(await section.getByLabel('API key').inputValue(), shop.key)
    await section.getByLabel('trackerId').fill('shop')
    await section.getByLabel('subjectId').fill('anna/1')
    await section.getByLabel('limit').fill('2')
    assert.match(await send(section), /^200 .*"nextCursor": "/s)
    assert.equal(new URL(sent.at(-1)?.url() ?? '').search, '?limit=2')
    await section.getByLabel('limit').fill('0')
    assert.match(await send(section), /^422 .*"field": "limit"/s)
  })

  test('sends a body', async () => {
    const section = await open('searchSubjects')
    await section.getByLabel('Body').fill('{"subjectId":"ben"}')
    assert.match(await send(section), /^200 .*"subjectId": "ben"/s)
    await section.getByLabel('Body').fill('{')
    assert.match(await send(section), /^400 .*"invalid_request"/s)
  })

  test('rejects IDs that a URL cannot contain and missing fields before it sends anything', async () => {
    const section = await open('eraseSubject')
    const before = sent.length
    for (const id of ['..', '.', '']) {
      await section.getByLabel('trackerId').fill('shop')
      await section.getByLabel('subjectId').fill(id)
      await section.getByRole('button', { name: 'Send request' }).press('Enter')
      assert.equal(await page.getByRole('dialog').count(), 0)
      assert.ok(await section.getByLabel('subjectId').evaluate((input) => input.matches(':invalid')))
    }
    assert.equal(sent.length, before)
  })

  test('asks for confirmation before it erases', async () => {
    const section = await open('eraseSubject')
    await section.getByLabel('trackerId').fill('shop')
    await section.getByLabel('subjectId').fill('anna/1')
    const before = sent.length
    const start = () => section.getByRole('button', { name: 'Send request' }).press('Enter')
    const dialog = page.getByRole('dialog')
    await start()
    await dialog.waitFor()
    assert.match(await dialog.innerText(), /trackerId shop, subjectId anna\/1/)
    assert.match(await dialog.innerText(), /cannot be undone/)
    // Pressing Enter again does not confirm it.
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'hidden' })
    await start()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    assert.equal(sent.length, before)
    await start()
    await keyboard.press('Erase for good')
    await section.locator('[aria-live] pre').waitFor()
    assert.match(await section.locator('[aria-live]').innerText(), /^200 .*"alreadyErased": false/s)
    assert.equal((await shop.ask(subjectPath('anna/1'), { key: shop.key })).status, 404)
    assert.equal((await shop.ask(subjectPath('ben'), { key: shop.key })).status, 200)
  })

  test('shows the start of a long response, and does not read the rest', async () => {
    const attributes = { note: 'x'.repeat(20_000) }
    const visits = Array.from({ length: 200 }, (_, n) => visit('long', { sessionId: `s${n}`, attributes }))
    await shop.ingest(visits.flat())
    const section = await open('exportSubject')
    await section.getByLabel('trackerId').fill('shop')
    await section.getByLabel('subjectId').fill('long')
    const told = await send(section)
    assert.match(told, /^200 .*only its beginning is shown/s)
    assert.ok(told.length < 1_200_000, `${told.length} characters`)
  })

  test('says so when the service cannot be reached', async () => {
    const section = await open('readLedger')
    await page.context().setOffline(true)
    await section.getByRole('button', { name: 'Send request' }).press('Enter')
    await section.getByText('The service could not be reached.').waitFor()
    await page.context().setOffline(false)
  })

  test('keeps the key in memory only, and sends nothing elsewhere', async () => {
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
    )
    const state = JSON.stringify(await page.context().storageState({ indexedDB: true }))
    for (const text of [kept, state, await page.content()]) assert.ok(!text.includes(shop.key), text)
    await page.reload()
    const section = await open('readSubject')
    assert.equal(await section.getByLabel('API key').inputValue(), '')
    for (const address of requested) assert.ok(address.startsWith(`${shop.url}/`), address)
    for (const address of requested) assert.ok(!address.includes(shop.key), address)
    assert.deepEqual(complaints, [])
  })

  test('is accessible, and fits a small screen', async () => {
    const section = await open('readSubject')
    await section.getByLabel('API key').fill(shop.key)
    await section.getByLabel('trackerId').fill('shop')
    await section.getByLabel('subjectId').fill('ben')
    await send(section)
    await page.setViewportSize({ width: 360, height: 740 })
    const over = await overflowOf(page)
    assert.ok(over <= 0, `${over} pixels too wide`)
    await page.evaluate(keepOneOfEachKind)
    await assertAccessible(page, 'a form and an answer')
    await page.locator('dialog').evaluate((dialog) => (dialog as HTMLDialogElement).showModal())
    await assertAccessible(page, 'the question')
  })
})

/** The contents, because the whole page has a thousand links. */
function contents(page: Page): Locator {
  return page.locator('.contents')
}

/**
 * Removes all other operations, because every step would search and lay out all of them. Runs in the page.
 */
function keepOperations(ids: string[]): void {
  for (const operation of document.querySelectorAll('.operation')) {
    if (!ids.includes(operation.id)) operation.remove()
  }
}

/**
 * Keeps one element of each combination of tags and classes, which have the same colours. Runs in the page.
 */
function keepOneOfEachKind(): void {
  const kinds = new Set<string>()
  const kindOf = (element: Element | null): string =>
    element ? `${kindOf(element.parentElement)} ${element.tagName}.${element.className}` : ''
  // The ancestors of the first element of each kind are kept.
  const kept = [...document.body.querySelectorAll('*')].filter((element) => {
    const kind = kindOf(element)
    return !kinds.has(kind) && kinds.add(kind)
  })
  const isKept = new Set(kept.flatMap((element) => ancestorsOf(element)))
  for (const element of document.body.querySelectorAll('*')) if (!isKept.has(element)) element.remove()

  function ancestorsOf(element: Element): Element[] {
    return element.parentElement ? [element, ...ancestorsOf(element.parentElement)] : [element]
  }
}
