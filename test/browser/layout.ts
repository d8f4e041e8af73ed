import type { Page } from 'playwright-core'

/** The positions of the parts of a page, rounded to a few pixels. */
export type Layout = Record<string, Box>

/** Left, top, width and height. */
type Box = readonly [number, number, number, number]

/** The parts of a page that reveal a broken layout. */
const parts = [
  'header.sidebar',
  'nav.nav-links',
  '.search-box form',
  'main',
  'main > .page-head h1',
  'main > .page-head .actions',
  'main .card',
  'main .table-frame',
  'main .inbox',
  'main .spark',
  'main .editor',
  'main .empty',
  'main .facts-card',
  'main .records',
  'main .strip',
  'main .virtual',
  'main .sheet',
  'main .sheet-figure',
  'main .seal',
  'main .receipt-box',
  'main .sign-in-card',
]

/** Measures the first element of each part. */
export function layoutOf(page: Page): Promise<Layout> {
  return page.evaluate((selectors) => {
    const boxes: Record<string, [number, number, number, number]> = {}
    for (const selector of selectors) {
      const element = document.querySelector(selector)
      if (!element) continue
      const { left, top, width, height } = element.getBoundingClientRect()
      if (width * height > 0)
        boxes[selector] = [Math.round(left), Math.round(top + scrollY), Math.round(width), Math.round(height)]
    }
    return boxes
  }, parts)
}

/** The cumulative layout shift since the page was loaded. */
export function shiftOf(page: Page): Promise<number> {
  return page.evaluate(async () => {
    let total = 0
    const add = (entries: PerformanceEntryList) => {
      for (const entry of entries) {
        if ('value' in entry && typeof entry.value === 'number') total += entry.value
      }
    }
    const observer = new PerformanceObserver((list) => add(list.getEntries()))
    observer.observe({ type: 'layout-shift', buffered: true })
    // A shift is reported with its frame, and earlier shifts in a separate task.
    for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame)
    await new Promise((resolve) => setTimeout(resolve))
    add(observer.takeRecords())
    return total
  })
}

/** The tolerance per side, because other browser versions and code fonts wrap lines differently. */
const pixels = 28
const share = 0.08

/** The changes of a layout, in words. */
export function layoutChanges(before: Layout, after: Layout): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => {
    const [was, is] = [before[name], after[name]]
    if (!was || !is) return [`${name} is ${is ? 'new' : 'gone'}`]
    const isClose = was.every((value, i) => Math.abs(value - (is[i] ?? 0)) <= Math.max(pixels, value * share))
    return isClose ? [] : [`${name} was at ${was.join(', ')} and is at ${is.join(', ')}`]
  })
}
