import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { noBrowser, openBrowser, openPage, settled } from './browser.ts'

const sessions = 6
const eventsPerSession = 100
/** Noon, so that no session lasts over midnight. */
const noon = new Date().setHours(12, 0, 0, 0) - 86_400_000

describe('a data subject with a long timeline, in a browser', { skip: noBrowser }, async () => {
  if (noBrowser) return
  const shop = await startShop({ after }, { scopes: ['analytics:view'] })
  await shop.ingest(
    Array.from({ length: sessions }, (_, i) =>
      visit('anna', {
        sessionId: `s${i}`,
        startedAt: noon - i * 86_400_000,
        events: eventsPerSession,
      }),
    ).flat(),
  )
  const browser = await openBrowser({ after })
  const seat = await openPage(browser, shop, await openConsole(shop, shop.organisationId))
  const { page } = seat
  const asked = () => seat.requested.filter((address) => address.endsWith('/person/timeline')).length
  const drawn = () => page.locator('.virtual > li').count()

  test('fetches and renders little more than what is visible', async () => {
    await page.goto('/console/trackers/shop/subjects/anna')
    await settled(page)
    await page.locator('.event-line').first().waitFor()
    assert.ok(asked() <= 2, `${asked()} pages`)
    assert.ok((await drawn()) < 120, `${await drawn()} rows`)
  })

  test('loads page by page while scrolling, each event once, down to the first', async () => {
    const seen = new Set<string>()
    for (let isAtEnd = false; !isAtEnd; ) {
      const shown = await page.evaluate(scrollOn)
      for (const time of shown.times) seen.add(time)
      isAtEnd = shown.isAtEnd
    }
    await page.getByText('No earlier events.').waitFor()
    assert.equal(seen.size, sessions * eventsPerSession)
    assert.equal(asked(), Math.ceil((sessions * (eventsPerSession + 1)) / 200))
    assert.ok((await drawn()) < 120, `${await drawn()} rows at the end`)
    const last = page.locator('.virtual > li').last()
    assert.equal(await last.getAttribute('aria-posinset'), String(sessions * (eventsPerSession + 2)))
  })

  test('starts at a chosen day, which is kept in the address', async () => {
    const day = new Date(noon - 5 * 86_400_000).toISOString().slice(0, 10)
    await page.getByLabel('Activity up to').fill(day)
    await page.waitForURL(`**?day=${day}`)
    await page.locator(`.event-line time[datetime^="${day}"]`).first().waitFor()
    await settled(page)
    const [first] = await page.locator('.event-line time').evaluateAll(datetimes)
    assert.equal(String(first).slice(0, 10), day)
    await page.reload()
    await settled(page)
    const [again] = await page.locator('.event-line time').evaluateAll(datetimes)
    assert.equal(again, first)
    await page.getByRole('button', { name: 'Show newest' }).click()
    await page.waitForURL(/anna$/)
    assert.deepEqual(seat.complaints, [])
  })

  function datetimes(all: Element[]): (string | null)[] {
    return all.map((time) => time.getAttribute('datetime'))
  }

  /** Scrolls. Returns the times of the rendered events, and whether the end is reached. Runs in the page. */
  async function scrollOn(): Promise<{ times: string[]; isAtEnd: boolean }> {
    const isAtBottom = innerHeight + scrollY >= document.documentElement.scrollHeight - 2
    const isAtEnd = isAtBottom && document.body.innerText.includes('No earlier events.')
    const drawn = document.querySelectorAll<HTMLTimeElement>('.event-line time')
    const times = [...drawn].map((time) => time.dateTime)
    scrollBy(0, 1_000)
    // The page gets the event in one frame and renders in the next.
    for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame)
    return { times, isAtEnd }
  }
})
