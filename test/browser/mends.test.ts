import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { commandLine } from '../../src/domain/activity.ts'
import { idleMs } from '../../src/domain/sign-in.ts'
import { inviteMember } from '../../src/operations/member/invite-member.ts'
import { openConsole, password } from '../support/console.ts'
import { anHourAgo, startShop, visit } from '../support/shop.ts'
import { Keyboard, noBrowser, openBrowser, settled, sitDown } from './browser.ts'

describe('the console, where it was weak', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const turned = 'anna\u202enitram'
  const spaced = '  two  spaces '
  const decomposed = 'Zoe\u0308'
  await shop.ingest([
    ...Array.from({ length: 80 }, (_, i) =>
      visit(`visitor-${String(i).padStart(2, '0')}`, { startedAt: anHourAgo - i * 60_000 }),
    ).flat(),
    ...visit(turned, { attributes: { [`a-name-${'x'.repeat(120)}`]: 'value' } }),
    ...visit(spaced),
    ...visit(decomposed),
  ])
  const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')
  const browser = await openBrowser({ after })
  const { page, complaints } = await sitDown(browser, shop, client)
  const hands = new Keyboard(page)
  const subjectAt = (id: string) => `/console/trackers/shop/subjects/${encodeURIComponent(id)}`

  test('Next pressed twice leads one page on, and Back from a subject to that page', async () => {
    await page.goto('/console/trackers/shop?sort=subjectId')
    await settled(page)
    const slow = Promise.withResolvers<void>()
    await page.route('**/subjects?*cursor=*', async (route) => {
      await slow.promise
      await route.continue()
    })
    const next = page.getByRole('button', { name: 'Next' })
    await next.click()
    await next.click()
    slow.resolve()
    await settled(page)
    await page.getByText('Page 2', { exact: true }).waitFor()
    const ids = () => page.getByRole('rowheader').allInnerTexts()
    const second = await ids()
    assert.equal(new URL(page.url()).searchParams.get('page'), '2')
    await page.getByRole('rowheader').nth(3).getByRole('link').click()
    await page.getByText('What happened').waitFor()
    await page.goBack()
    await page.getByText('Page 2', { exact: true }).waitFor()
    await settled(page)
    assert.deepEqual(await ids(), second)
    await page.reload()
    await settled(page)
    assert.deepEqual(await ids(), second, 'a new load shows the same page')
    await page.getByRole('button', { name: 'Previous' }).click()
    await page.getByText('Page 1', { exact: true }).waitFor()
  })

  test('shows what cannot be seen in an id, and lets nothing in it turn what is around it', async () => {
    await page.goto(subjectAt(turned))
    await settled(page)
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'annaU+202Enitram')
    await page.goto(subjectAt(spaced))
    await settled(page)
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), '␣␣two␣␣spaces␣')
  })

  test('takes an id as it can be typed, and erases the one that is meant', async () => {
    for (const [id, typed] of [
      [spaced, 'two spaces'],
      [decomposed, 'Zo\u00eb'],
      [turned, 'annanitram'],
    ] as const) {
      await page.goto(subjectAt(id))
      await page.getByRole('button', { name: 'Erase' }).click()
      await page.getByLabel(/^Type the id/).fill(`${typed}x`)
      assert.equal(await page.getByRole('button', { name: 'Erase for good' }).isDisabled(), true)
      await page.getByLabel(/^Type the id/).fill(typed)
      await page.getByRole('button', { name: 'Erase for good' }).click()
      await page.getByText('1 event in 1 session').waitFor()
      const view = { organisationId: shop.organisationId, trackerId: 'shop', since: 0 }
      assert.equal(await shop.services.subjects.read(view, id), null)
    }
  })

  test('keeps a long name of an attribute within its place', async () => {
    await shop.ingest(visit('long', { attributes: { [`a-name-${'x'.repeat(120)}`]: 'value' } }))
    await page.goto(subjectAt('long'))
    await settled(page)
    const over = await page.evaluate(() => {
      const card = document.querySelector('.facts-card')?.getBoundingClientRect().right ?? 0
      return (
        Math.max(
          ...[...document.querySelectorAll('.facts-card *')].map(
            (each) => each.getBoundingClientRect().right,
          ),
        ) - card
      )
    })
    assert.ok(over > -300, 'there is such a place')
    assert.ok(over <= 1, `${over} pixels too far`)
  })

  test('prints the values of a chart beside its bars', async () => {
    await page.goto('/console/trackers/shop')
    await settled(page)
    const gap = await page.evaluate(() => {
      const axis = document.querySelector('.days-axis')?.getBoundingClientRect()
      const lefts = [...document.querySelectorAll('.days-bars .bar')].map(
        (bar) => bar.getBoundingClientRect().left,
      )
      return axis && Math.min(...lefts) - axis.right
    })
    assert.ok(gap !== undefined && gap >= 0, `${gap} pixels between them`)
  })

  test('says in passing what worked and what did not, each with its look and no wider than its text', async () => {
    await page.goto('/console/members')
    await settled(page)
    await page.route('**/console/api/sign-out', (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'internal_error', message: 'That broke.' } } }),
    )
    for (let i = 0; i < 2; i++) {
      await page.getByRole('button', { name: /^Account: / }).click()
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      await page.getByRole('button', { name: /^Account: / }).click()
    }
    const toast = page.locator('.toast')
    await toast.first().waitFor()
    assert.deepEqual(await toast.allInnerTexts(), ['That broke.'], 'the same is told once')
    assert.equal(await page.locator('.toast.failed').count(), 1)
    const width = (await toast.boundingBox())?.width ?? 0
    assert.ok(width < 200, `${width} pixels wide`)
    await page.unroute('**/console/api/sign-out')
  })

  test('asks for a day where one is missing, in words', async () => {
    await page.goto('/console/keys')
    await hands.press('Create a key')
    await hands.type('Name', 'looks')
    await hands.press(/^analytics:view /, 'Space')
    await page.getByLabel('Expires').selectOption('date')
    await hands.press('Create the key')
    await page.getByText('Choose the last day it works.').waitFor()
    assert.equal(await page.getByText('ISO 8601').count(), 0)
  })

  test('asks for the password above a form when a sign-in is over, and then does what was asked', async () => {
    const own = await openConsole(shop, shop.organisationId, 'eve@acme.example')
    const seat = await sitDown(browser, shop, own)
    await seat.page.goto('/console/keys')
    const their = new Keyboard(seat.page)
    await their.press('Create a key')
    await their.type('Name', 'half filled')
    await their.press(/^analytics:view /, 'Space')
    shop.passTime(idleMs)
    await their.press('Create the key')
    const dialog = seat.page.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByLabel('Password').fill(password)
    await seat.page.keyboard.press('Enter')
    await seat.page.getByText('The key “half filled” is created').waitFor()

    await seat.page.goto(subjectAt('visitor-07'))
    await settled(seat.page)
    shop.passTime(idleMs)
    await seat.page.getByRole('button', { name: 'Download an export' }).click()
    await dialog.getByLabel('Password').fill(password)
    const coming = seat.page.waitForEvent('download')
    await seat.page.keyboard.press('Enter')
    assert.match((await coming).suggestedFilename(), /^shop_visitor-07_[0-9a-f]{8}\.json$/)
    await seat.page.context().close()
  })

  test('shows nothing of before to another member who signs in there', async () => {
    const [mine, theirs] = ['finn@acme.example', 'gus@acme.example']
    const own = await openConsole(shop, shop.organisationId, mine)
    await openConsole(shop, shop.organisationId, theirs)
    const { page: shared } = await sitDown(browser, shop, own)
    await shared.goto('/console/keys')
    await settled(shared)
    await new Keyboard(shared).press('Create a key')
    await new Keyboard(shared).type('Name', 'half filled by finn')
    shop.passTime(idleMs)
    await shared.getByRole('button', { name: 'Create the key' }).click()
    const dialog = shared.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByLabel('E-mail address').fill(theirs)
    await dialog.getByLabel('Password').fill(password)
    await shared.keyboard.press('Enter')
    await shared.getByRole('heading', { name: 'Trackers', level: 1 }).waitFor()
    await shared.getByRole('button', { name: `Account: ${theirs}` }).waitFor()
    assert.equal(await shared.getByRole('dialog').count(), 0)
    const keys = await shop.services.apiKeys.list(shop.organisationId)
    assert.equal(
      keys.some(({ name }) => name === 'half filled by finn'),
      false,
    )
    await shared.context().close()
  })

  test('tells whoever reloads a one-time link to open it again, and a member makes another', async () => {
    const invited = await inviteMember(
      shop.services,
      { organisationId: shop.organisationId, email: 'new@acme.example' },
      commandLine,
    )
    const stranger = await sitDown(browser, shop)
    await stranger.page.goto(`/console/join#${invited.token}`)
    await stranger.page.getByText('new@acme.example').waitFor()
    await stranger.page.reload()
    await stranger.page.getByRole('heading', { name: 'Open the link again' }).waitFor()
    const own = await openConsole(shop, shop.organisationId)
    const { page: members } = await sitDown(browser, shop, own)
    await members.goto('/console/members')
    await members.getByRole('button', { name: 'New link for new@acme.example' }).click()
    const link = await members.getByLabel('Link', { exact: true }).inputValue()
    await stranger.page.goto(link)
    await stranger.page.getByLabel('Password').fill(password)
    await stranger.page.keyboard.press('Enter')
    await stranger.page.getByRole('heading', { name: 'Trackers', level: 1 }).waitFor()
  })

  test('has a page for what could not be drawn, with a way on', async () => {
    const own = await openConsole(shop, shop.organisationId)
    const { page: broken } = await sitDown(browser, shop, own)
    await broken.route('**/console/api/members', (route) =>
      route.fulfill({ json: { data: { members: [null] } } }),
    )
    await broken.goto('/console/members')
    await broken.getByRole('heading', { name: 'This page broke' }).waitFor()
    assert.equal(await broken.title(), 'This page broke · Lethe')
    await broken.unroute('**/console/api/members')
    await new Keyboard(broken).press('Erasures')
    await broken.getByRole('heading', { name: 'Erasures', level: 1 }).waitFor()
  })

  test('prints a page without what is around it', async () => {
    const own = await openConsole(shop, shop.organisationId)
    const { page: printed } = await sitDown(browser, shop, own)
    await printed.goto('/console/activity')
    await settled(printed)
    await printed.emulateMedia({ media: 'print' })
    assert.equal(await printed.locator('.sidebar').isVisible(), false)
    assert.equal(await printed.getByRole('table').isVisible(), true)
  })

  test('gives the focus with the drawing, so that nothing typed from then on goes elsewhere', async () => {
    const own = await openConsole(shop, shop.organisationId)
    const { page: quick } = await sitDown(browser, shop, own)
    await quick.goto('/console/keys')
    await settled(quick)
    const press = (name: string) => quick.getByRole('button', { name, exact: true }).click()
    const late: string[] = []
    for (const [drawn, act] of [
      ['.shell:has([href$="/members"][aria-current]) h1', () => new Keyboard(quick).press('Members')],
      ['dialog input', () => press('Invite a member')],
      ['dialog [aria-invalid=true]', () => press('Make the link')],
      ['.door input', signOut],
    ] as const) {
      const isFocused = isFocusedOnceDrawn(quick, drawn)
      await act()
      if (!(await isFocused)) late.push(drawn)
    }
    assert.deepEqual(late, [])

    async function signOut(): Promise<void> {
      await press('Cancel')
      await quick.getByRole('button', { name: /^Account: / }).click()
      await press('Sign out')
    }
  })

  test('complained of nothing', () => assert.deepEqual(complaints, []))
})

/** Whether something has the focus at the moment it is drawn. Looks from now on. */
function isFocusedOnceDrawn(page: Page, selector: string): Promise<boolean> {
  return page.evaluate(
    (selector) =>
      new Promise<boolean>((resolve) => {
        const observer = new MutationObserver(() => {
          const drawn = document.querySelector(selector)
          if (!drawn) return
          observer.disconnect()
          resolve(drawn === document.activeElement)
        })
        observer.observe(document, { childList: true, subtree: true, attributes: true })
      }),
    selector,
  )
}
