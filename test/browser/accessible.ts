import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

const contrast = 'color-contrast'
/** What depends on colours takes as long as all the rest. */
const withoutColours = { [contrast]: { enabled: false }, 'link-in-text-block': { enabled: false } }

/** All rules in light; in dark, what depends on colours. Where they were looked at already, they need not be again. */
function runs(coloursAreKnown: boolean) {
  if (coloursAreKnown) return [{ colorScheme: 'light' as const, rules: withoutColours }]
  return [
    { colorScheme: 'light' as const },
    { colorScheme: 'dark' as const, runOnly: { type: 'rule', values: [contrast] } },
  ]
}

/** What passes is not told, and style sheets are not fetched again for rules that are not on. */
const briefly = { resultTypes: ['violations'], preload: false }

/** Fails with whatever axe finds wrong with a page, in light and in dark. */
export async function assertAccessible(
  page: Page,
  what: string,
  { coloursAreKnown = false } = {},
): Promise<void> {
  // A page that it has looked at before still has it, and it is half a megabyte.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  for (const { colorScheme, ...options } of runs(coloursAreKnown)) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const violations = await page.evaluate(
      async (options): Promise<Violation[]> => {
        const { axe } = globalThis as unknown as {
          axe: { run(options: object): Promise<{ violations: Violation[] }> }
        }
        return (await axe.run(options)).violations
      },
      { ...options, ...briefly },
    )
    const told = violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`,
    )
    assert.deepEqual(told, [], `${what}, ${colorScheme}`)
  }
}
