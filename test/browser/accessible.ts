import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe: { source: string } = createRequire(import.meta.url)('axe-core')

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

/** Fails with whatever axe finds wrong with a page, in light and in dark. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const violations = await page.evaluate(async (): Promise<Violation[]> => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
      return (await axe.run()).violations
    })
    const told = violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`,
    )
    assert.deepEqual(told, [], `${what}, ${colorScheme}`)
  }
}
