import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { ensureConsole } from '../../bin/launch/console.js'
import type { ConsoleClient } from '../support/console.ts'
import { closeAfterLastFile } from '../support/run-test-files.ts'
import type { Lifetime, TestService } from '../support/service.ts'

const usualPaths = [
  // Headless Chromium needs half the processor time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const executablePath = process.env.LETHE_TEST_CHROMIUM ?? usualPaths.find((path) => existsSync(path))

/** Why browser tests cannot run; `false` if they can. */
export const noBrowser =
  executablePath === undefined && 'no Chromium was found; install it, or name it in LETHE_TEST_CHROMIUM'

let opened: Browser | undefined

/** The time limit for a step of a test. */
const stepTimeoutMs = 15_000

/** A real browser without background requests. The files of one process share it and close their pages. */
export async function openBrowser(lifetime: Lifetime): Promise<Browser> {
  await ensureConsole(fileURLToPath(new URL('../..', import.meta.url)))
  if (!opened?.isConnected()) {
    opened = await launch()
    closeAfterLastFile(lifetime, () => opened?.close())
  }
  const browser = opened
  lifetime.after(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  return browser
}

/** A browser in its own process, shared with no other test. */
export async function launchBrowser(lifetime: Lifetime): Promise<Browser> {
  const browser = await launch()
  lifetime.after(() => browser.close())
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

/** A page of the console, with its requests and its errors. */
export interface ConsolePage {
  page: Page
  /** The addresses of all requests. */
  requested: string[]
  /** Errors and policy violations. */
  complaints: string[]
}

/** Opens a page in its own browser context, signed in as `client`. */
export async function openPage(
  browser: Browser,
  { url }: TestService,
  client: Pick<ConsoleClient, 'cookie'> | null = null,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    locale: 'en-GB',
    baseURL: url,
    ...options,
  })
  context.setDefaultTimeout(stepTimeoutMs)
  const page = await context.newPage()
  await slowDown(page)
  if (client) await signInAs(page, client, url)
  const requested: string[] = []
  const complaints: string[] = []
  context.on('request', (request) => requested.push(request.url()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // Refused requests are shown by the page, which tests check.
    if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text())
  })
  return { page, requested, complaints }
}

/**
 * Slows a page down, for example `LETHE_TEST_SLOW=6,400` for scripts that take six times as long and
 * responses that are delayed by 400 ms. Finds tests that depend on a fast machine.
 */
async function slowDown(page: Page): Promise<void> {
  const slowness = process.env.LETHE_TEST_SLOW
  if (slowness === undefined) return
  const [rate = 1, latency = 0] = slowness.split(',').map(Number)
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate })
  const unlimited = { downloadThroughput: -1, uploadThroughput: -1 }
  await session.send('Network.emulateNetworkConditions', { offline: false, latency, ...unlimited })
}

/** Signs the page in as another member, from the next load on. */
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

/** Waits until a page has loaded its data. Observes changes, because polling would request frames. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    (stepTimeoutMs) =>
      new Promise<void>((resolve, reject) => {
        const waiting = () => document.querySelector('.skeleton, .waiting, [aria-busy="true"]')
        const look = () => {
          if (!document.querySelector('h1') || waiting()) return
          observer.disconnect()
          resolve()
        }
        const observer = new MutationObserver(look)
        observer.observe(document, { childList: true, subtree: true, attributes: true })
        setTimeout(() => reject(new Error(`it still waits: ${waiting()?.outerHTML}`)), stepTimeoutMs)
        look()
      }),
    stepTimeoutMs,
  )
}

/** Waits until a page has loaded its data, and the service has answered all its requests. */
export async function answered(page: Page): Promise<void> {
  await settled(page)
  await Promise.all((await page.requests()).map((request) => request.response()))
}

/**
 * Opens another page like the links of the console, without a page load, and waits until it has loaded.
 * Cached data may still be fetched again.
 */
export async function goTo(page: Page, path: string): Promise<void> {
  await startNavigation(page, path)
  await settled(page)
}

/** The same, without waiting. */
export async function startNavigation(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, `/console${path}`)
}

/** Holds back the requests of a page to some addresses until the returned function is called. */
export async function holdBack(page: Page, addresses: string): Promise<() => void> {
  const held = Promise.withResolvers<void>()
  await page.route(addresses, async (route) => {
    await held.promise
    await route.continue()
  })
  return held.resolve
}

/** By how many pixels a page is wider than the viewport. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
}

/** Operates a page by keyboard only. */
export class Keyboard {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /**
   * Presses Tab, or Shift+Tab if that is shorter, until an element has the focus. Waits for the element, and
   * fails if it does not appear.
   */
  async reach(name: string | RegExp): Promise<void> {
    const seen = new Set<string>()
    for (let presses = 0; presses < 80; ) {
      const found = await this.page.waitForFunction(wayTo, name, { polling: 50 }).catch(() => null)
      const way = await found?.jsonValue()
      assert.ok(way, `the keyboard cannot lead to ${name}, which is not there`)
      const { focused, steps, isBehind } = way
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

  /** Chooses an item of a menu by its button and the arrow keys. */
  async choose(menu: string | RegExp, item: string): Promise<void> {
    await this.press(menu)
    const isReached = () => this.page.evaluate((item) => document.activeElement?.textContent === item, item)
    for (let presses = 0; !(await isReached()); presses++) {
      assert.ok(presses < 10, `the menu has no item ${item}`)
      await this.page.keyboard.press('ArrowDown')
    }
    await this.page.keyboard.press('Enter')
  }

  async type(name: string | RegExp, text: string): Promise<void> {
    await this.reach(name)
    await this.page.keyboard.press('ControlOrMeta+a')
    await this.page.keyboard.insertText(text)
  }
}

/**
 * The accessible name of the focused element, and how often to press Tab or Shift+Tab to reach the wanted
 * one: 0 if it is focused, `null` if it cannot be found. Runs in the page.
 */
function wayTo(wanted: string | RegExp): { focused: string; steps: number; isBehind: boolean } | null {
  const from = document.activeElement ?? document.body
  const focused = nameOf(from)
  if (isWanted(from)) return { focused, steps: 0, isBehind: false }
  const room = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body
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
  if (ahead === 0 && back === 0) return null
  const isBehind = back > 0 && (ahead === 0 || back < ahead)
  return { focused, steps: isBehind ? back : ahead, isBehind }

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
