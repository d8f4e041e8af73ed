// Measures first paint, layout shift and the longest task of the console's pages, with the sample, a tracker
// with many data subjects, a data subject with many events, and many requests. Arguments: SUBJECTS EVENTS
// REQUESTS.
import type { Page } from 'playwright-core'
import { commandLine } from '../../src/domain/activity.ts'
import { createRequest } from '../../src/operations/create-privacy-request.ts'
import { createSample } from '../../src/operations/sample.ts'
import { noBrowser, openBrowser, openPage, settled } from '../../test/browser/browser.ts'
import { openConsole } from '../../test/support/console.ts'
import { startTestService, type TestService } from '../../test/support/service.ts'
import { anHourAgo, visit } from '../../test/support/shop.ts'
import { longestTaskMs } from './longest-task.ts'

if (noBrowser) throw new Error(noBrowser)

const [subjects, events] = [Number(process.argv[2] ?? 50_000), Number(process.argv[3] ?? 100_000)]
const requests = Number(process.argv[4] ?? 50_000)
const batchSize = 5_000
const concurrentRequests = 250
const owner = { trackerId: 'many' }
const ends: (() => unknown)[] = []
const lifetime = { after: (end: () => unknown) => void ends.unshift(end) }
try {
  await measure()
} finally {
  for (const end of ends) await end()
}

async function measure(): Promise<void> {
  const service = await startTestService(lifetime)
  const { organisationId, trackerId, subjectId } = await createSample(service.services)
  await service.createTracker(organisationId, 'many')
  for (let i = 0; i < subjects; i += batchSize) {
    const some = Array.from({ length: Math.min(batchSize, subjects - i) }, (_, j) =>
      visit(`v-${i + j}`, owner),
    )
    await service.ingest(some.flat())
  }
  for (let i = 0; i < events; i += batchSize) {
    const startedAt = anHourAgo - (i / batchSize) * 86_400_000
    const some = { ...owner, sessionId: `s${i}`, startedAt, events: Math.min(batchSize, events - i) }
    await service.ingest(visit('busy', some))
  }
  for (let i = 0; i < requests; i += concurrentRequests) {
    const some = Array.from({ length: Math.min(concurrentRequests, requests - i) }, (_, j) => i + j)
    await Promise.all(some.map((number) => addRequest(service, organisationId, number)))
  }
  const client = await openConsole(service, organisationId)
  const browser = await openBrowser(lifetime)
  const { page } = await openPage(browser, service, client)
  // Keeps what browsers cache from the first visit.
  await page.goto('/console/requests')
  await settled(page)
  const row = (...cells: (string | number)[]) => console.log(`| ${cells.join(' | ')} |`)
  row('page', 'first paint, ms', 'layout shift', 'longest task, ms of CPU')
  row('---', '---:', '---:', '---:')
  for (const path of [
    'requests',
    'trackers',
    `trackers/${trackerId}`,
    `trackers/${trackerId}/subjects/${subjectId}`,
    'erasures',
    'requests/erase-list',
    'activity',
    'keys',
    'members',
    'settings',
    'trackers/many',
    'trackers/many/subjects/busy',
  ]) {
    const taskMs = await longestTaskMs(browser, page, async () => {
      await page.goto(`/console/${path}`)
      await settled(page)
    })
    const { paintMs, shift } = await vitals(page)
    row(path.replace(subjectId, '…'), paintMs, shift, taskMs)
  }
  const taskMs = await longestTaskMs(browser, page, () => scrollDown(page))
  const pages = await page.evaluate(() => performance.getEntriesByType('resource').length)
  row(`… scrolled down through ${events} events, ${pages} requests`, '', '', taskMs)
}

/** Adds a request that was received within the last 40 days. */
async function addRequest({ services }: TestService, organisationId: string, i: number): Promise<void> {
  const person = { identifiers: [{ name: 'email', value: `person-${i}@example.com` }], subjects: [] }
  const receivedAt = Date.now() - Math.round((40 * 86_400_000 * i) / requests)
  const kind = i % 2 === 0 ? 'access' : 'erasure'
  const wanted = { kind, person, receivedAt, reference: `DSR-${i}`, requestId: null } as const
  await createRequest(services, { organisationId, since: 0 }, wanted, commandLine)
}

/** The browser's measurements of a page. */
function vitals(page: Page): Promise<{ paintMs: number; shift: number }> {
  return page.evaluate(async () => {
    let shift = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if ('value' in entry && typeof entry.value === 'number') shift += entry.value
      }
    }).observe({ type: 'layout-shift', buffered: true })
    await new Promise((resolve) => setTimeout(resolve, 500))
    const [paint] = performance.getEntriesByName('first-contentful-paint')
    return { paintMs: Math.round(paint?.startTime ?? Number.NaN), shift: Number(shift.toFixed(4)) }
  })
}

/** Scrolls to the end of a timeline as fast as it loads. */
function scrollDown(page: Page): Promise<void> {
  return page.evaluate(async () => {
    performance.setResourceTimingBufferSize(100_000)
    while (!document.querySelector('.timeline-end')?.textContent?.startsWith('No earlier')) {
      scrollTo(0, document.documentElement.scrollHeight)
      await new Promise(requestAnimationFrame)
    }
  })
}
