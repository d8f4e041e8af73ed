// Measures one store at a time, which grows in place from ten thousand to a hundred million events,
// alternately with a store that keeps the smallest size, so that other load affects both.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import type { SubjectSort } from '../../src/domain/subject.ts'
import { sweepAged } from '../../src/maintenance/sweep.ts'
import { listSubjects } from '../../src/operations/subject.ts'
import { openServices } from '../../src/start.ts'
import type { Bench } from '../bench.ts'
import { Lifetime } from '../lifetime.ts'
import { measureRound } from '../load/load.ts'
import { loadProgress } from '../load/load-progress.ts'
import { SteadyRequests } from '../load/steady-requests.ts'
import { runLethe } from '../processes/run-lethe.ts'
import { type RunningProcess, startLethe } from '../processes/start-process.ts'
import { describeCommit } from '../report/machine.ts'
import { Figures, type Group } from '../report/results.ts'
import type { GrowthSize } from '../sizes.ts'
import { organisation, subjectsPath } from '../stores/empty-store.ts'
import { addSubjects, identifiersOf, subjectId, subjectPath } from '../stores/fill-store.ts'
import { checkDisk, type GrowingStore, growingStores } from '../stores/growing-stores.ts'
import { tracker } from '../stores/visits.ts'

const eventsEach = 10
const pathsAtHand = 20_000
/** The age of the oldest events in days. A window two days shorter excludes a hundredth of them. */
const days = 200
const windowDays = 198
const eraseEveryMs = 100

/** A store of a certain size. */
interface Grown {
  store: GrowingStore
  subjects: number
  /** The number of the first subject that is not erased. */
  next: number
}

/** A grown store with the service that runs on it. */
interface Served extends Grown {
  server: RunningProcess
  lastPages: Record<SubjectSort, string>
}

export async function measureGrowth({ keep, ...bench }: Bench<GrowthSize>): Promise<Group[]> {
  const { stores } = bench.size
  for (const name of stores) checkDisk(name, Math.max(...sizesOn(name, bench.size)))
  const groups: Group[] = []
  for (const name of stores) {
    // Removed before the next one is created.
    const lifetime = new Lifetime()
    try {
      groups.push(
        await measureStore({ ...bench, lifetime, keep: (some) => keep([...groups, ...some]) }, name),
      )
    } finally {
      await lifetime.end()
    }
  }
  return groups
}

function sizesOn(name: string, { events, clusterEvents }: GrowthSize): number[] {
  return events.filter((each) => name !== 'Citus' || each <= clusterEvents)
}

async function measureStore(bench: Bench<GrowthSize>, name: string): Promise<Group> {
  const { lifetime, keep, size } = bench
  const stores = await growingStores(lifetime, name)
  if (typeof stores === 'string') return { name, rows: [], notes: [stores] }
  const tell = (line: string) => bench.tell(`${name}: ${line}`)
  const [smallest = 0, ...larger] = sizesOn(name, size)
  const figures = new Figures()
  const { versions } = stores
  const today = new Date().toISOString().slice(0, 10)
  const notes = [...stores.notes, `Measured at commit ${describeCommit()} on ${today}.`]
  const group = () => ({ name, rows: figures.rows(), notes, versions })

  const small: Grown = { store: await stores.create('small'), subjects: 0, next: 0 }
  await grow(small, smallest, () => {})
  const reference = await serve(lifetime, small)
  const grown: Grown = { store: await stores.create('grown'), subjects: 0, next: 0 }
  for (const events of [smallest, ...larger]) {
    const row = `${events.toLocaleString('en')} events`
    const from = grown.subjects * eventsEach
    const progress = loadProgress({ from, to: events, last: larger.at(-1) ?? smallest }, tell)
    const rates = await grow(grown, events, progress)
    for (const ingestedPerSecond of rates) figures.add(row, { ingestedPerSecond })
    await grown.store.settle()
    const bytes = await grown.store.bytes()
    figures.add(row, { megabytes: bytes / 1e6, bytesPerEvent: bytes / events })
    tell(`${row}: sweep of a hundredth`)
    figures.add(row, await sweep(grown))
    const served = await serve(lifetime, grown)
    tell(`${row}: reads`)
    await measureReads({ ...bench, tell }, [reference, served], (round) => figures.add(row, round))
    tell(`${row}: erasures`)
    await measureErasures(bench, [reference, served], (round) => figures.add(row, round))
    tell(`${row}: scrub${grown.store.isBackedUp ? ' and backup' : ''} with erasures meanwhile`)
    figures.add(row, await measureMaintenance(served))
    await served.server.stop()
    grown.next = served.next
    keep([group()])
  }
  return group()
}

/** Adds new subjects until the store has this many events. Returns the rate of each tenth of the load. */
async function grow(grown: Grown, events: number, progress: (events: number) => void): Promise<number[]> {
  const services = await openServices(readConfig(grown.store.env))
  const subjects = events / eventsEach
  const rates: number[] = []
  const tenth = ((subjects - grown.subjects) * eventsEach) / 10
  let [stored, from] = [0, performance.now()]
  const shape = { eventsEach, identifiers: identifiersOf, days }
  for await (const added of addSubjects(services, numbers(grown.subjects, subjects), shape)) {
    progress(added)
    stored += added
    if (stored < tenth) continue
    const now = performance.now()
    rates.push((stored / (now - from)) * 1_000)
    ;[stored, from] = [0, now]
  }
  await services.close()
  grown.subjects = subjects
  return rates
}

function* numbers(from: number, to: number): Generator<number> {
  for (let number = from; number < to; number++) yield number
}

/** Deletes the hundredth that was added last and has expired, while no service is running. */
async function sweep({ store }: Grown): Promise<Record<string, number>> {
  const services = await openServices(readConfig(store.env))
  const { activityDays } = services
  const policy = { retentionDays: { ...services.retentionDays, pro: windowDays }, activityDays }
  await services.retention.settleWindows({ policy, now: Date.now(), rule: 'immediately' })
  const from = performance.now()
  const { events, sessions } = await sweepAged({ ...services, ...policy })
  const seconds = (performance.now() - from) / 1_000
  await services.close()
  return { sweptRows: events + sessions, sweptPerSecond: (events + sessions) / seconds }
}

async function serve(lifetime: Lifetime, grown: Grown): Promise<Served> {
  const services = await openServices(readConfig(grown.store.env))
  const view = { organisationId: organisation, trackerId: tracker, since: 0 }
  const all = { after: null, subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore: null }
  const list = (query: { sort: SubjectSort; limit: number; after?: Position }) =>
    listSubjects(services, view, { ...all, ...query })
  type Position = { subjectId: string; lastSeenAt: number }
  // The position 100 rows before the end is the one 100 rows after the start of the opposite order.
  const at = async (sort: SubjectSort): Promise<Position | undefined> =>
    (await list({ sort, limit: 101 })).subjects.at(-1)
  const before: Record<SubjectSort, Position | undefined> = {
    subjectId: { subjectId: subjectId(grown.subjects - 101), lastSeenAt: 0 },
    lastSeenAt: await at('-lastSeenAt'),
    '-lastSeenAt': await at('lastSeenAt'),
  }
  const lastPage = async (sort: SubjectSort) => {
    const after = before[sort]
    const { nextCursor } = await list({ sort, limit: 50, ...(after && { after }) })
    return `${subjectsPath}?sort=${sort}&limit=200&cursor=${nextCursor}`
  }
  const lastPages = {
    subjectId: await lastPage('subjectId'),
    lastSeenAt: await lastPage('lastSeenAt'),
    '-lastSeenAt': await lastPage('-lastSeenAt'),
  }
  await services.close()
  const env = { ...grown.store.env, LETHE_SCRUB_HOUR: 'off' }
  return { ...grown, server: await startLethe(lifetime, env), lastPages }
}

type Add = (round: Record<string, number>) => void
/** The reference, and the store that is compared with it. */
type Pair = readonly [reference: Served, grown: Served]

async function measureReads(bench: Bench<GrowthSize>, pair: Pair, add: Add): Promise<void> {
  const { size } = bench
  for (let round = -size.warmUps; round < size.rounds; round++) {
    const rates: number[] = []
    for (const served of pair) {
      const paths = Array.from({ length: pathsAtHand }, () => subjectPath(someSubject(served)))
      const load = { ...size, method: 'GET', headers: authorised(served), paths } as const
      rates.push((await measureRound(bench.load, served.server, load)).requestsPerSecond)
    }
    const [reference = Number.NaN, grown = Number.NaN] = rates
    if (round >= 0) add({ readsPerSecond: grown, readRatio: grown / reference })
  }
  for (const [name, ask] of Object.entries(requests)) {
    // The first round has unprepared statements and cold pages.
    for (let round = -1; round < size.rounds; round++) {
      const [reference = Number.NaN, grown = Number.NaN] = [
        await meanMs(size.requests, () => ask(pair[0])),
        await meanMs(size.requests, () => ask(pair[1])),
      ]
      if (round >= 0) add({ [`${name}Ms`]: grown, [`${name}Times`]: grown / reference })
    }
  }
}

/** Requests that are sent one at a time and must find something. */
const requests: Record<string, (served: Served) => Promise<void>> = {
  firstById: (served) => readPage(served, `${subjectsPath}?sort=subjectId&limit=50`),
  lastById: (served) => readPage(served, served.lastPages.subjectId, true),
  firstBySeen: (served) => readPage(served, `${subjectsPath}?sort=lastSeenAt&limit=50`),
  lastBySeen: (served) => readPage(served, served.lastPages.lastSeenAt, true),
  // A hundred subjects share the prefix.
  prefix: (served) =>
    readPage(
      served,
      `${subjectsPath}?limit=50&subjectIdPrefix=${subjectId(someSubject(served)).slice(0, -2)}`,
    ),
  async search(served) {
    const subject = someSubject(served)
    const [name, value] = Object.entries(identifiersOf(subject))[subject % 2] ?? []
    const response = await fetch(`${served.server.url}/v1/analytics/subjects/search`, {
      method: 'POST',
      headers: { ...authorised(served), 'content-type': 'application/json' },
      body: JSON.stringify({ identifier: { name, value } }),
    })
    const { data }: { data: { subjects: { subjectId: string }[] } } = JSON.parse(await response.text())
    if (data.subjects[0]?.subjectId !== subjectId(subject)) throw new Error('a search found someone else')
  },
}

async function readPage(served: Served, path: string, isLast?: true): Promise<void> {
  const response = await fetch(served.server.url + path, { headers: authorised(served) })
  const { data }: { data: { subjects: unknown[]; nextCursor: string | null } } = JSON.parse(
    await response.text(),
  )
  if (data.subjects.length === 0 || (isLast && data.nextCursor !== null)) throw new Error('not that page')
}

async function measureErasures({ size }: Bench<GrowthSize>, pair: Pair, add: Add): Promise<void> {
  for (let round = 0; round < size.rounds; round++) {
    const [reference = Number.NaN, grown = Number.NaN] = [
      await meanMs(size.erasures, () => erase(pair[0])),
      await meanMs(size.erasures, () => erase(pair[1])),
    ]
    add({ eraseMs: grown, eraseTimes: grown / reference })
  }
}

async function erase(served: Served): Promise<void> {
  const path = nextPath(served)
  const response = await fetch(served.server.url + path, { method: 'DELETE', headers: authorised(served) })
  if (response.status !== 200) throw new Error(`${response.status} for an erasure`)
  await response.arrayBuffer()
}

/** Scrubs and backs up, each during ten erasures a second, and records the slowest erasure. */
async function measureMaintenance(served: Served): Promise<Record<string, number>> {
  const { store, server } = served
  const next = () => ({ kind: 'erase', path: nextPath(served), method: 'DELETE' as const })
  const erasures = new SteadyRequests(server.url, store.key, next, eraseEveryMs)
  const measure = async (name: string, ...args: string[]) => {
    let tookMs = 0
    const latencies = await erasures.during(async () => {
      tookMs = await runLethe(store.env, name, ...args)
    })
    const { p99Ms, maxMs } = latencies.get('erase') ?? {}
    return { [`${name}Ms`]: tookMs, [`${name}WaitP99Ms`]: p99Ms ?? 0, [`${name}WaitMs`]: maxMs ?? 0 }
  }
  const backup = join(store.folder, 'backup.db')
  const figures = {
    ...(await measure('scrub', '--json')),
    ...(store.isBackedUp && (await measure('backup', backup, '--json'))),
  }
  await erasures.stop()
  for (const file of [backup, `${backup}.json`]) rmSync(file, { force: true })
  return figures
}

/** The path of a subject that was not erased before. */
function nextPath(served: Served): string {
  return subjectPath(served.next++ % served.subjects)
}

/** The number of a random subject that is not erased. */
function someSubject({ next, subjects }: Served): number {
  return next + Math.floor(Math.random() * (subjects - next))
}

function authorised({ store }: Served): Record<string, string> {
  return { authorization: `Bearer ${store.key}` }
}

async function meanMs(count: number, ask: () => Promise<void>): Promise<number> {
  const from = performance.now()
  for (let number = 0; number < count; number++) await ask()
  return (performance.now() - from) / count
}
