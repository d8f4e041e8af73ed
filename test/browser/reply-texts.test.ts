import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { greenPng } from '../support/png.ts'
import { startShop } from '../support/shop.ts'
import { assertAccessible } from './accessible.ts'
import { noBrowser, openBrowser, openPage, overflowOf, settled } from './browser.ts'

const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 40"><script>evil()</script><rect width="80" height="40" fill="#0d6570"/></svg>',
)

describe('documents and replies in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const client = await openConsole(shop, shop.organisationId)
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const preview = page.getByRole('figure', { name: 'Preview' })

  test('the profile is previewed while it is edited, saved, and rejected if invalid', async () => {
    await page.goto('/console/settings')
    await settled(page)
    await page.getByLabel('Display name').fill('Acme & Söhne')
    await page.getByLabel('Contact').fill('x'.repeat(501))
    await page.getByRole('radio', { name: 'German' }).check()
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.getByText('Contact must be at most 500 characters').waitFor()
    await page.getByLabel('Contact').fill('Data Protection\nprivacy@acme.example')
    await preview.getByText('privacy@acme.example').waitFor()
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.getByText('Profile saved').waitFor()
    const profile = await shop.services.organisationProfiles.find(shop.organisationId)
    assert.deepEqual(profile, {
      ...{ displayName: 'Acme & Söhne', contact: 'Data Protection\nprivacy@acme.example' },
      ...{ language: 'de', logo: null },
    })
  })

  test('a logo is shown as soon as it is chosen, sanitized', async () => {
    const input = page.locator('input[type=file]')
    const isShown = (width: number) =>
      page.waitForFunction(
        (width) => document.querySelector<HTMLImageElement>('.letterhead img')?.naturalWidth === width,
        width,
      )
    await input.setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: svg })
    await page.getByText('Removed from the file: script. Check the preview.').waitFor()
    await isShown(80)
    await assertAccessible(page, 'the settings with a logo')
    await input.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: greenPng(30, 10) })
    await isShown(30)
    await input.setInputFiles({ name: 'logo.gif', mimeType: 'image/gif', buffer: Buffer.from('GIF89a') })
    await page.getByText('The file is neither an SVG image in UTF-8 nor a PNG image.').waitFor()
    await input.setInputFiles({ name: 'l.png', mimeType: 'image/png', buffer: Buffer.alloc(64 * 1024 + 1) })
    await page.getByText('The file is larger than 64 KiB.').waitFor()
    await input.setInputFiles({ name: 'l.svg', mimeType: 'image/svg+xml', buffer: Buffer.alloc(0) })
    await page.getByText('The file is empty.').waitFor()
    await isShown(30)
    await page.getByRole('button', { name: 'Remove the logo' }).click()
    await page.getByText('Logo removed').waitFor()
    await preview.getByRole('img').waitFor({ state: 'detached' })
  })

  test('a reply text is previewed with sample facts, and rejected with an unknown placeholder', async () => {
    await page.getByRole('link', { name: 'Edit reply texts' }).click()
    await settled(page)
    const shown = page.getByRole('region', { name: 'Preview with sample facts' })
    // The language of the profile comes first.
    await shown.filter({ hasText: 'Acme & Söhne' }).waitFor()
    await shown.filter({ hasText: 'Sie erhalten unsere Antwort bis zum 3. Dezember 2026.' }).waitFor()
    await page.getByRole('radio', { name: 'English' }).check()
    await shown.filter({ hasText: 'You will receive our answer by 3 December 2026.' }).waitFor()
    const text = page.getByRole('textbox', { name: 'Received' })
    await text.fill('We answer by {dueDate}, or on ')
    await page.getByRole('button', { name: '{dueAt}' }).click()
    await shown.filter({ hasText: 'or on 3 December 2026' }).waitFor()
    assert.equal(await shown.locator('mark.unknown').innerText(), '{dueDate}')
    await page.getByRole('button', { name: 'Save text' }).click()
    await page.getByText('Line 1: {dueDate} is not a placeholder; the nearest is {dueAt}.').waitFor()
    assert.equal(await text.inputValue(), 'We answer by {dueDate}, or on {dueAt}')
    await assertAccessible(page, 'a reply text with a problem')
  })

  test('edits are kept until they are saved or discarded', async () => {
    await page.getByRole('button', { name: 'Rejected' }).first().click()
    await page.getByRole('button', { name: 'Received unsaved' }).click()
    const text = page.getByRole('textbox', { name: 'Received' })
    assert.equal(await text.inputValue(), 'We answer by {dueDate}, or on {dueAt}')
    await page.getByRole('link', { name: 'Settings' }).first().click()
    await page.getByRole('heading', { name: 'Discard unsaved changes' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await text.fill('We answer by {dueAt}')
    await page.getByRole('button', { name: 'Save text' }).click()
    await page.getByRole('button', { name: 'Received changed' }).waitFor()
    const [stored] = await shop.services.replyTexts.list(shop.organisationId)
    assert.partialDeepStrictEqual(stored, {
      name: 'access.received',
      language: 'en',
      text: 'We answer by {dueAt}',
    })
  })

  test('the default is restored', async () => {
    await page.getByRole('button', { name: 'Restore default' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Restore default' }).click()
    await page.getByText('This is the default text.').waitFor()
    const text = await page.getByRole('textbox', { name: 'Received' }).inputValue()
    assert.match(text, /You will receive our answer by \{dueAt\}\./)
    assert.deepEqual(await shop.services.replyTexts.list(shop.organisationId), [])
  })

  test('all pages fit a phone, without errors', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    assert.ok((await overflowOf(page)) <= 0)
    await page.goto('/console/settings')
    await settled(page)
    assert.ok((await overflowOf(page)) <= 0)
    assert.deepEqual(complaints, [])
  })
})
