import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { commandLine } from '../../src/domain/activity.ts'
import { idleTimeoutMs } from '../../src/domain/sign-in.ts'
import { inviteMember } from '../../src/operations/member.ts'
import { dataOf } from '../support/answers.ts'
import { addMember, openConsole, password, visitor } from '../support/console.ts'
import { anHourAgo, startShop, visit } from '../support/shop.ts'
import { answered, goTo, Keyboard, noBrowser, openBrowser, openPage, settled } from './browser.ts'

describe('former defects of the console', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  const turned = 'anna\u202enitram'
  const spaced = '  two  spaces '
  await shop.ingest([
    ...Array.from({ length: 80 }, (_, i) =>
      visit(`visitor-${String(i).padStart(2, '0')}`, { startedAt: anHourAgo - i * 60_000 }),
    ).flat(),
    ...visit(turned, { attributes: { [`a-name-${'x'.repeat(120)}`]: 'value' } }),
    ...visit(spaced),
  ])
  const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')
  const browser = await openBrowser({ after })
  const { page, complaints } = await openPage(browser, shop, client)
  const keyboard = new Keyboard(page)
  const subjectAt = (id: string) => `/trackers/shop/subjects/${encodeURIComponent(id)}`

  /** Reloads a page and waits for its requests, so that the next action meets the expired session. */
  async function load(path: string): Promise<void> {
    await page.goto(`/console${path}`)
    await answered(page)
  }

  describe('its appearance', () => {
    /** Colours painted over each other on a canvas: red, green and blue. */
    const paint = (...colours: string[]) =>
      page.evaluate((colours) => {
        const canvas = document.createElement('canvas').getContext('2d')
        if (!canvas) return []
        for (const colour of colours) {
          canvas.fillStyle = colour
          canvas.fillRect(0, 0, 1, 1)
        }
        return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)]
      }, colours)

    const styleOf = (of: Page, selector: string, property: string, pseudo?: string) =>
      of.evaluate(
        ([selector = '', property = '', pseudo]) => {
          const found = document.querySelector(selector)
          return found ? getComputedStyle(found, pseudo).getPropertyValue(property) : ''
        },
        [selector, property, pseudo],
      )

    function luminance(rgb: number[]): number {
      const [r = 0, g = 0, b = 0] = rgb.map((value) => {
        const share = value / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    function contrast(a: number[], b: number[]): number {
      const [dark = 0, bright = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
      return (bright + 0.05) / (dark + 0.05)
    }

    test('keeps a time with AM or PM on one line, and does not widen hyphens', async () => {
      const { page } = await openPage(browser, shop, client, { locale: 'en-US', timezoneId: 'UTC' })
      const startedAt = new Date(anHourAgo).setUTCHours(12, 59, 59, 0) - 86_400_000
      await shop.ingest(visit('at-noon', { startedAt }))
      await page.goto('/console/trackers/shop/subjects/at-noon')
      await settled(page)
      const time = page.locator('.event-line time')
      assert.match(await time.innerText(), /^12:59:59\sPM$/)
      const { lines, right } = await time.evaluate((element) => {
        const range = document.createRange()
        range.selectNodeContents(element)
        return { lines: range.getClientRects().length, right: range.getBoundingClientRect().right }
      })
      assert.equal(lines, 1)
      const name = await page.locator('.event-line time + *').boundingBox()
      assert.ok(right <= (name?.x ?? 0), 'it does not reach the next column')
      assert.equal(await styleOf(page, 'h1', 'font-variant-numeric'), 'normal')
      assert.equal(await styleOf(page, 'time', 'font-variant-numeric'), 'tabular-nums')
      await page.context().close()
    })

    for (const colorScheme of ['light', 'dark'] as const) {
      test(`shows the selected segment, and no strip next to a dialog: ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme })
        await load('/requests/erase-list')
        const shadow = await styleOf(page, '.segments input:checked + span', 'box-shadow')
        const [ring = ''] = /(?:rgba?|color)\([^)]*\)/.exec(shadow) ?? []
        const ground = await paint(await styleOf(page, '.segments', 'background-color'))
        assert.ok(contrast(await paint(ring), ground) >= 3, 'the chosen one stands out')
        await goTo(page, subjectAt('visitor-01'))
        const plain = await styleOf(page, 'html', 'background-color')
        await page.getByRole('button', { name: 'Erase data' }).click()
        const backdrop = await styleOf(page, 'dialog', 'background-color', '::backdrop')
        const gutter = await paint(await styleOf(page, 'html', 'background-color'))
        const beside = await paint(plain, backdrop)
        for (const [i, value] of gutter.entries())
          assert.ok(Math.abs(value - (beside[i] ?? 0)) <= 1, `${gutter} beside ${beside}`)
        await page.emulateMedia({ colorScheme: null })
      })
    }
  })

  test('opens one page if Next is pressed twice, and Back from a data subject returns to it', async () => {
    await load('/trackers/shop?sort=subjectId')
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
    await page.getByRole('heading', { name: 'Sessions and events' }).waitFor()
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

  test('shows invisible characters in an ID, and isolates its direction', async () => {
    await goTo(page, subjectAt(turned))
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'annaU+202Enitram')
    await goTo(page, subjectAt(spaced))
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), '␣␣two␣␣spaces␣')
  })

  test('accepts an ID as it can be typed, and erases the right subject', async () => {
    await goTo(page, subjectAt(turned))
    await page.getByRole('button', { name: 'Erase data' }).click()
    await page.getByLabel(/^Type the ID/).fill('annanitramx')
    assert.equal(await page.getByRole('button', { name: 'Erase for good' }).isDisabled(), true)
    await page.getByLabel(/^Type the ID/).fill('annanitram')
    await page.getByRole('button', { name: 'Erase for good' }).click()
    await page.getByText('Closed in time').waitFor()
    const view = { organisationId: shop.organisationId, trackerId: 'shop', since: 0 }
    assert.equal(await shop.services.subjects.read(view, turned), null)
  })

  test('wraps a long attribute name', async () => {
    await shop.ingest(visit('long', { attributes: { [`a-name-${'x'.repeat(120)}`]: 'value' } }))
    await goTo(page, subjectAt('long'))
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

  test('prints the values of a chart next to its bars', async () => {
    await goTo(page, '/trackers/shop')
    const gap = await page.evaluate(() => {
      const axis = document.querySelector('.days-axis')?.getBoundingClientRect()
      const lefts = [...document.querySelectorAll('.days-bars .bar')].map(
        (bar) => bar.getBoundingClientRect().left,
      )
      return axis && Math.min(...lefts) - axis.right
    })
    assert.ok(gap !== undefined && gap >= 0, `${gap} pixels between them`)
  })

  test('shows toasts for success and failure, distinct and no wider than their text', async () => {
    await goTo(page, '/members')
    await page.route('**/console/api/sign-out', (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'internal_error', message: 'That broke.' } } }),
    )
    for (let i = 0; i < 2; i++) {
      await page.getByRole('button', { name: /^Account: / }).click()
      const refused = page.waitForResponse('**/console/api/sign-out')
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      await refused
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

  test('requires a day', async () => {
    await goTo(page, '/keys')
    await keyboard.press('Create a key')
    await keyboard.type('Name', 'looks')
    await keyboard.press(/^analytics:view /, 'Space')
    await page.getByLabel('Expires').selectOption('date')
    await keyboard.press('Create the key')
    await page.getByText('Choose the last day on which the key works.').waitFor()
    assert.equal(await page.getByText('ISO 8601').count(), 0)
    await page.keyboard.press('Escape')
  })

  test('asks for the password over a form if the session has expired, and then sends the form', async () => {
    await load('/keys')
    await keyboard.press('Create a key')
    await keyboard.type('Name', 'half filled')
    await keyboard.press(/^analytics:view /, 'Space')
    shop.passTime(idleTimeoutMs)
    await keyboard.press('Create the key')
    const dialog = page.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByText('Key “half filled” created').waitFor()
    await keyboard.press('I have stored the key')

    await load(subjectAt('visitor-07'))
    shop.passTime(idleTimeoutMs)
    await page.getByRole('button', { name: 'Download export' }).click()
    await dialog.getByLabel('Password').fill(password)
    const coming = page.waitForEvent('download')
    await page.keyboard.press('Enter')
    assert.match((await coming).suggestedFilename(), /^shop_visitor-07_[0-9a-f]{8}\.json$/)
  })

  test('creates another link for a member who lost theirs', async () => {
    const invited = { organisationId: shop.organisationId, email: 'new@acme.example' }
    await inviteMember(shop.services, invited, commandLine)
    await goTo(page, '/members')
    await page.getByRole('button', { name: 'Create a link for new@acme.example' }).click()
    const link = await page.getByLabel('Link', { exact: true }).inputValue()
    await keyboard.press('I have copied the link')
    const body = { token: new URL(link).hash.slice(1) }
    const told = dataOf(await visitor(shop).ask('/invitation', { method: 'POST', body }))
    assert.equal(told.email, 'new@acme.example')
  })

  test('prints a page without its navigation', async () => {
    await goTo(page, '/activity')
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.locator('.sidebar').isVisible(), false)
    assert.equal(await page.getByRole('table').isVisible(), true)
    await page.emulateMedia({ media: 'screen' })
  })

  test('shows nothing of the previous member to another one who signs in', async () => {
    const theirs = 'gus@acme.example'
    await addMember(shop, shop.organisationId, theirs)
    await load('/keys')
    await keyboard.press('Create a key')
    await keyboard.type('Name', 'half filled by ada')
    await keyboard.reach(/^analytics:view /)
    shop.passTime(idleTimeoutMs)
    await page.getByRole('button', { name: 'Create the key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByLabel('E-mail address').fill(theirs)
    await dialog.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
    await page.getByRole('button', { name: `Account: ${theirs}` }).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0)
    const keys = await shop.services.apiKeys.list(shop.organisationId)
    assert.equal(
      keys.some(({ name }) => name === 'half filled by ada'),
      false,
    )
  })

  test('has reported no errors so far', () => assert.deepEqual(complaints, []))

  test('shows an error page with a retry if a page cannot be rendered', async () => {
    await page.route('**/console/api/keys', (route) => route.fulfill({ json: { data: { keys: [null] } } }))
    await goTo(page, '/keys')
    await page.getByRole('heading', { name: 'Something went wrong' }).waitFor()
    assert.equal(await page.title(), 'Something went wrong · Lethe')
    await page.unroute('**/console/api/keys')
    await keyboard.press('Erasures')
    await page.getByRole('heading', { name: 'Erasures', level: 1 }).waitFor()
  })

  test('sets the focus in the first render, so that no keystroke is lost', async () => {
    await goTo(page, '/trackers')
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    const late: string[] = []
    for (const [drawn, act] of [
      ['.shell:has([href$="/members"][aria-current]) h1', () => keyboard.press('Members')],
      ['dialog input', () => press('Invite a member')],
      ['dialog [aria-invalid=true]', () => press('Create the link')],
      ['.sign-in input', signOut],
    ] as const) {
      const isFocused = isFocusedOnceDrawn(page, drawn)
      await act()
      if (!(await isFocused)) late.push(drawn)
    }
    assert.deepEqual(late, [])

    async function signOut(): Promise<void> {
      await press('Cancel')
      await page.getByRole('button', { name: /^Account: / }).click()
      await press('Sign out')
    }
  })
})

/** Resolves to whether an element has the focus when it is first rendered. */
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
