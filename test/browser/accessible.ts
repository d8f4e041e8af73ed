import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { JSHandle, Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

interface ColouredText {
  colours: Set<string>
  elements: Element[]
}

/** These rules take longer than all the others. */
const colourRules = ['color-contrast', 'link-in-text-block']
const withoutColours = { rules: Object.fromEntries(colourRules.map((id) => [id, { enabled: false }])) }
const onlyColours = { runOnly: { type: 'rule', values: colourRules } }

/** In alternating order, so that a page that is checked again already has the first scheme. */
const colorSchemes: ('light' | 'dark')[] = ['light', 'dark']

/** The text colours that were already checked on other pages. */
const knownColours = new Set<string>()

/** Fails with the problems that axe finds on a page, in light and dark. */
export async function assertAccessible(
  page: Page,
  what: string,
  { coloursAreKnown = false } = {},
): Promise<void> {
  // axe is half a megabyte, so a page that was checked before keeps it.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  assert.deepEqual(await violationsOn(page, withoutColours), [], what)
  if (coloursAreKnown) return
  for (const colorScheme of colorSchemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const text = await page.evaluateHandle(textOfOtherColours, [...knownColours])
    assert.deepEqual(await violationsOn(page, onlyColours, text), [], `${what}, ${colorScheme}`)
    // Elements that have disappeared meanwhile, such as a toast, were not checked.
    const checked = await text.evaluate(({ colours, elements }) =>
      elements.every(({ isConnected }) => isConnected) ? [...colours] : [],
    )
    for (const colour of checked) knownColours.add(colour)
  }
  colorSchemes.reverse()
}

async function violationsOn(page: Page, options: object, text?: JSHandle<ColouredText>): Promise<string[]> {
  const violations = await page.evaluate(
    async ({ options, text }): Promise<Violation[]> => {
      const { axe } = globalThis as unknown as {
        axe: { run(where: object, options: object): Promise<{ violations: Violation[] }> }
      }
      const shown = text?.elements.filter(({ isConnected }) => isConnected)
      if (shown?.length === 0) return []
      // Reports violations only, and does not fetch style sheets again for disabled rules.
      const how = { ...options, resultTypes: ['violations'], preload: false }
      return (await axe.run(shown ? { include: shown } : document, how)).violations
    },
    { options, text },
  )
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`,
  )
}

/**
 * The text elements with new combinations of the colours that affect contrast and the recognition of links.
 * Runs in the page.
 */
function textOfOtherColours(known: string[]): ColouredText {
  const grounds = new Map<Element | null, string>()
  const knownColours = new Set(known)
  const colours = new Set<string>()
  const elements: Element[] = []
  for (const element of document.querySelectorAll('*')) {
    const style = getComputedStyle(element)
    const own = `${style.backgroundColor} ${style.backgroundImage} ${style.opacity}`
    // Ancestors come before an element.
    const around = grounds.get(element.parentElement) ?? ''
    const isOpaque = own.startsWith('rgb(') && own.endsWith(' 1')
    const ground = own === 'rgba(0, 0, 0, 0) none 1' ? around : isOpaque ? own : `${own} ${around}`
    grounds.set(element, ground)
    if (!hasText(element) || !element.checkVisibility({ visibilityProperty: true })) continue
    const { color: colourAround } = getComputedStyle(element.parentElement ?? element)
    const isLarge = Number.parseFloat(style.fontSize) >= (Number(style.fontWeight) >= 700 ? 18.66 : 24)
    const isDisabled = element.matches(':disabled')
    const colour = [style.color, isLarge, style.textDecorationLine, colourAround, isDisabled, ground].join()
    if (knownColours.has(colour)) continue
    colours.add(colour)
    elements.push(element)
  }
  return { colours, elements }

  function hasText(element: Element): boolean {
    const isField = element.matches('input, select, textarea')
    return isField || [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== '')
  }
}
