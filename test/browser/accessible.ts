import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

/** They take longer than all the others. */
const colourRules = ['color-contrast', 'link-in-text-block']
const withoutColours = { rules: Object.fromEntries(colourRules.map((id) => [id, { enabled: false }])) }
const onlyColours = { runOnly: { type: 'rule', values: colourRules } }

/** The colours of text that were looked at: on another page they are as good. */
const knownColours = new Set<string>()

/** Fails with whatever axe finds wrong with a page, in light and in dark. */
export async function assertAccessible(
  page: Page,
  what: string,
  { coloursAreKnown = false } = {},
): Promise<void> {
  // A page that it has looked at before still has it, and it is half a megabyte.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  assert.deepEqual(await violationsOn(page, withoutColours), [], what)
  if (coloursAreKnown) return
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const colours = await page.evaluate(coloursOfText)
    if (colours.every((colour) => knownColours.has(colour))) continue
    assert.deepEqual(await violationsOn(page, onlyColours), [], `${what}, ${colorScheme}`)
    for (const colour of colours) knownColours.add(colour)
  }
}

async function violationsOn(page: Page, options: object): Promise<string[]> {
  const violations = await page.evaluate(async (options): Promise<Violation[]> => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: Violation[] }> }
    }
    // What passes is not told, and style sheets are not fetched again for rules that are not on.
    return (await axe.run({ ...options, resultTypes: ['violations'], preload: false })).violations
  }, options)
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`,
  )
}

/**
 * The ways in which text is drawn, as far as they tell whether it can be read, and a link be told from what is around it. Runs in the
 * page.
 */
function coloursOfText(): string[] {
  const grounds = new Map<Element | null, string>()
  const colours = new Set<string>()
  for (const element of document.querySelectorAll('*')) {
    const style = getComputedStyle(element)
    const own = `${style.backgroundColor} ${style.backgroundImage} ${style.opacity}`
    // What is around an element comes before it.
    const around = grounds.get(element.parentElement) ?? ''
    const isOpaque = own.startsWith('rgb(') && own.endsWith(' 1')
    const ground = own === 'rgba(0, 0, 0, 0) none 1' ? around : isOpaque ? own : `${own} ${around}`
    grounds.set(element, ground)
    if (!hasText(element) || !element.checkVisibility({ visibilityProperty: true })) continue
    const { color: colourAround } = getComputedStyle(element.parentElement ?? element)
    const isLarge = Number.parseFloat(style.fontSize) >= (Number(style.fontWeight) >= 700 ? 18.66 : 24)
    const isDisabled = element.matches(':disabled')
    colours.add([style.color, isLarge, style.textDecorationLine, colourAround, isDisabled, ground].join())
  }
  return [...colours]

  function hasText(element: Element): boolean {
    const isField = element.matches('input, select, textarea')
    return isField || [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== '')
  }
}
