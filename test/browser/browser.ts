import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { ensureConsole } from '../../bin/launch/console.js'
import type { ConsoleClient } from '../support/console.ts'
import type { Lifetime, TestService } from '../support/service.ts'
import { closeWithLast } from '../support/together.ts'

const usualPlaces = [
  // Chromium without the windows nobody looks at; half the work.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const executablePath = process.env.LETHE_TEST_CHROMIUM ?? usualPlaces.find((path) => existsSync(path))

/** Why there can be no tests in a browser here; `false` where there can. */
export const noBrowser =
  executablePath === undefined && 'no Chromium was found; install it, or name it in LETHE_TEST_CHROMIUM'

let opened: Browser | undefined

/** How long a page may take for a step of a test. */
const patience = 15_000

/** A real browser that asks nobody for anything, without pages after the tests. The files of one process have one browser. */
export async function openBrowser(lifetime: Lifetime): Promise<Browser> {
  await ensureConsole(fileURLToPath(new URL('../..', import.meta.url)))
  if (!opened?.isConnected()) {
    opened = await launch()
    closeWithLast(lifetime, () => opened?.close())
  }
  const browser = opened
  lifetime.after(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  return browser
}

function launch(): Promise<Browser> {
  const quiet = ['quic', 'background-networking', 'component-update', 'sync', 'gpu'].map(
    (what) => `--disable-${what}`,
  )
  return chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: ['--no-sandbox', '--no-first-run', ...quiet],
  })
}

/** A page of the console, with all that it asked for, and whatever it complained about. */
export interface Seat {
  page: Page
  /** The addresses of all requests. */
  requested: string[]
  /** What the browser refused or complained of. */
  complaints: string[]
}

/** Opens a page in a browser of its own, as far as cookies go; signed in as whoever `client` is. */
export async function sitDown(
  browser: Browser,
  { url }: TestService,
  client: Pick<ConsoleClient, 'cookie'> | null = null,
  options: BrowserContextOptions = {},
): Promise<Seat> {
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    locale: 'en-GB',
    baseURL: url,
    ...options,
  })
  context.setDefaultTimeout(patience)
  const page = await context.newPage()
  if (client) await signInAs(page, client, url)
  const requested: string[] = []
  const complaints: string[] = []
  context.on('request', (request) => requested.push(request.url()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // That a request was refused is for the page to show, and tests look at that.
    if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text())
  })
  return { page, requested, complaints }
}

/** Makes the next load of a page that of another member: whoever `client` is. */
export async function signInAs(
  page: Page,
  client: Pick<ConsoleClient, 'cookie'>,
  url: string,
): Promise<void> {
  const [name = '', value = ''] = client.cookie?.split('=') ?? []
  const { hostname: domain } = new URL(url)
  await page
    .context()
    .addCookies([{ name, value, domain, path: '/console', httpOnly: true, sameSite: 'Strict' }])
}

/** Waits until a page has all that it asked the server for. It is told of changes: a look at every frame would ask for frames. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    (patience) =>
      new Promise<void>((resolve, reject) => {
        const waiting = () => document.querySelector('.skeleton, .waiting, [aria-busy="true"]')
        const look = () => {
          if (!document.querySelector('h1') || waiting()) return
          observer.disconnect()
          resolve()
        }
        const observer = new MutationObserver(look)
        observer.observe(document, { childList: true, subtree: true, attributes: true })
        setTimeout(() => reject(new Error(`it still waits: ${waiting()?.outerHTML}`)), patience)
        look()
      }),
    patience,
  )
}

/**
 * Goes to another page as the console's own links do, without loading it anew, and waits until all of it is there. What was shown
 * before is shown again, and may still be fetched anew.
 */
export async function goTo(page: Page, path: string): Promise<void> {
  await setOut(page, path)
  await settled(page)
}

/** The same, without waiting for anything. */
export async function setOut(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, `/console${path}`)
}

/** By how many pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
}

/** Hands that only ever touch the keyboard. */
export class Keyboard {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /** Goes on with the Tab key, or back where that is shorter, until this has the focus; fails when it never gets it. */
  async reach(name: string | RegExp): Promise<void> {
    const seen = new Set<string>()
    for (let presses = 0; presses < 80; ) {
      const { focused, steps, isBehind } = await this.page.evaluate(wayTo, name)
      if (steps === 0) return
      seen.add(focused)
      presses += steps
      if (isBehind) await this.page.keyboard.down('Shift')
      await Promise.all(Array.from({ length: steps }, () => this.page.keyboard.press('Tab')))
      if (isBehind) await this.page.keyboard.up('Shift')
    }
    assert.fail(`the keyboard does not lead to ${name}, but to ${[...seen].join(' | ')}`)
  }

  async press(name: string | RegExp, key = 'Enter'): Promise<void> {
    await this.reach(name)
    await this.page.keyboard.press(key)
  }

  async type(name: string | RegExp, text: string): Promise<void> {
    await this.reach(name)
    await this.page.keyboard.press('ControlOrMeta+a')
    await this.page.keyboard.insertText(text)
  }
}

/**
 * What a screen reader would call what has the focus, and how often to press Tab from there as far as the page can tell, with
 * Shift where it lies behind: never where it is what is looked for, once where that cannot be seen. Runs in the page.
 */
function wayTo(wanted: string | RegExp): { focused: string; steps: number; isBehind: boolean } {
  const from = document.activeElement ?? document.body
  const focused = nameOf(from)
  if (isWanted(from)) return { focused, steps: 0, isBehind: false }
  const room = document.querySelector('dialog:modal') ?? document.body
  const stops = [
    ...room.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex]'),
  ].filter(
    (each) =>
      each.tabIndex >= 0 &&
      each.checkVisibility({ visibilityProperty: true }) &&
      !each.matches(':disabled, [type=radio]:not(:checked)'),
  )
  const isAhead = (each: Element) => from.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING
  const ahead = stops.filter(isAhead).findIndex(isWanted) + 1
  const back =
    stops
      .filter((each) => each !== from && !isAhead(each))
      .toReversed()
      .findIndex(isWanted) + 1
  const isBehind = back > 0 && (ahead === 0 || back < ahead)
  return { focused, steps: isBehind ? back : ahead || 1, isBehind }

  function isWanted(element: Element): boolean {
    const name = nameOf(element)
    return typeof wanted === 'string' ? name === wanted : wanted.test(name)
  }

  function nameOf(element: Element): string {
    if (!(element instanceof HTMLElement)) return ''
    const labels =
      element instanceof HTMLInputElement ||
      element instanceof HTMLSelectElement ||
      element instanceof HTMLTextAreaElement
        ? element.labels
        : null
    const spoken = element.cloneNode(true)
    if (spoken instanceof HTMLElement)
      for (const hidden of spoken.querySelectorAll('[aria-hidden]')) hidden.remove()
    const text = element.getAttribute('aria-label') ?? labels?.[0]?.innerText ?? spoken.textContent ?? ''
    return text.replaceAll(/\s+/g, ' ').trim()
  }
}
