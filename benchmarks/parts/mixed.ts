// A mixed load: of a hundred requests, ninety read, eight list and two erase, during a continuous import and
// sweep.
import { setTimeout as delay } from 'node:timers/promises'
import type { IncomingEvent } from '../../src/domain/ingest.ts'
import { defaultRetentionDays } from '../../src/domain/retention.ts'
import type { Bench } from '../bench.ts'
import { type SteadyRequest, SteadyRequests } from '../load/steady-requests.ts'
import { startEndlessImport } from '../processes/endless-import.ts'
import { startLethe } from '../processes/start-process.ts'
import { Figures, type Group } from '../report/results.ts'
import type { MixedSize } from '../sizes.ts'
import { emptyStore, subjectsPath } from '../stores/empty-store.ts'
import { fillStore, somePaths, subjectId, subjectPath } from '../stores/fill-store.ts'
import { tracker } from '../stores/visits.ts'

const eventsEach = 10
const kinds = ['read', 'page of 50', 'erase']
/** How long an event that expires soon is still visible. */
const soonMs = 5_000

export async function measureMixed({ size, lifetime, tell }: Bench<MixedSize>): Promise<Group[]> {
  const { seconds, requestsPerSecond, subjects, importedLinesPerSecond } = size
  const warmUpSeconds = Math.min(10, seconds / 4)
  const erasures = Math.ceil((seconds + warmUpSeconds + 10) * requestsPerSecond * 0.02)
  tell(`${subjects} subjects, and ${erasures} to be erased`)
  const store = await emptyStore(lifetime)
  await fillStore(store.env, subjects + erasures, eventsEach)
  const swept = { events: 0, sessions: 0 }
  const server = await startLethe(lifetime, { ...store.env, LETHE_SWEEP_SECONDS: '1' }, (line) => {
    if (!line.includes('"msg":"swept"')) return
    const { events, sessions }: typeof swept = JSON.parse(line)
    swept.events += events
    swept.sessions += sessions
  })
  const running = startEndlessImport(lifetime, store.env, passingVisits(), importedLinesPerSecond)
  const requests = new SteadyRequests(server.url, store.key, mixture(subjects), 1_000 / requestsPerSecond)
  await delay(warmUpSeconds * 1_000)
  tell(`${seconds} s of it`)
  const latencies = await requests.during(() => delay(seconds * 1_000))
  await requests.stop()
  const { lines } = await running.stop()
  const figures = new Figures()
  for (const kind of kinds) {
    const one = latencies.get(kind)
    if (one) figures.add(kind, { ...one })
  }
  const notes = [
    `${requestsPerSecond} requests a second for ${seconds} s, each timed from when it was due.`,
    `Meanwhile ${lines} lines were imported, ${swept.events} events and ${swept.sessions} sessions swept.`,
  ]
  return [{ name: 'requests', rows: figures.rows(), notes }]
}

/** Of fifty requests, one erases, four list and the others read. */
function mixture(subjects: number): () => SteadyRequest {
  let last = 0
  let erased = 0
  return () => {
    last += 1
    if (last % 50 === 0) {
      erased += 1
      return { kind: 'erase', method: 'DELETE', path: subjectPath(subjects + erased - 1) }
    }
    if (last % 10 === 0) {
      const prefix = subjectId(Math.floor(Math.random() * subjects)).slice(0, -3)
      return { kind: 'page of 50', path: `${subjectsPath}?subjectIdPrefix=${prefix}&limit=50` }
    }
    return { kind: 'read', path: somePaths(1, subjects)[0] ?? '' }
  }
}

/** Visits of new visitors: every other one is current, the others expire within seconds. */
function passingVisits(): () => IncomingEvent {
  let last = 0
  return () => {
    last += 1
    const ago = last % 2 === 0 ? 0 : defaultRetentionDays.free * 86_400_000 - soonMs
    return {
      type: 'event',
      trackerId: tracker,
      subjectId: `passing-${last}`,
      sessionId: 'session',
      eventId: 'event',
      name: 'pageview',
      occurredAt: Date.now() - ago,
      properties: { url: `https://shop.example/products/${last % 977}`, title: 'A page of the shop' },
    }
  }
}
