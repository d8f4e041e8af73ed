// Reads, pages and small erasures in stores of different sizes, over HTTP, in interleaved rounds.
import type { Bench } from '../bench.ts'
import { measureRound } from '../load/load.ts'
import { type RunningProcess, startLethe, startProcess } from '../processes/start-process.ts'
import { Figures, type Group } from '../report/results.ts'
import type { GrowthSize } from '../sizes.ts'
import { emptyStore, subjectsPath } from '../stores/empty-store.ts'
import { fillStore, somePaths, subjectPath } from '../stores/fill-store.ts'

const eventsEach = 10
const pathsAtHand = 10_000

/** Requests to a store, and the server that answers them. */
interface Probe {
  name: string
  server: RunningProcess
  paths: string[]
}

interface SizedStore {
  name: string
  server: RunningProcess
  headers: Record<string, string>
  subjects: number
  probes: Probe[]
}

export async function measureGrowth(bench: Bench<GrowthSize>): Promise<Group[]> {
  const { size, tell } = bench
  const stores: SizedStore[] = []
  for (const events of size.events) stores.push(await openStore(bench, events))
  const figures = new Map<string, Figures>()
  for (let round = -size.warmUps; round < size.rounds; round++) {
    tell(round < 0 ? 'warming up' : `round ${round + 1} of ${size.rounds}`)
    for (const index of stores[0]?.probes.keys() ?? []) {
      let smallest: number | null = null
      for (const { name, headers, probes } of stores) {
        const probe = probes[index]
        if (!probe) continue
        const load = { ...size, method: 'GET', headers, paths: probe.paths } as const
        const { requests: _, ...measured } = await measureRound(bench.load, probe.server, load)
        if (round < 0) continue
        smallest ??= measured.requestsPerSecond
        const group = figures.get(probe.name) ?? new Figures()
        figures.set(probe.name, group)
        group.add(name, { ...measured, ratio: measured.requestsPerSecond / smallest })
      }
    }
  }
  const groups = [...figures].map(([name, group]) => ({ name, rows: group.rows() }))
  return [...groups, await measureErasures(bench, stores)]
}

async function openStore({ size, lifetime, tell }: Bench<GrowthSize>, events: number): Promise<SizedStore> {
  const subjects = events / eventsEach
  const store = await emptyStore(lifetime)
  const from = performance.now()
  await fillStore(store.env, subjects, eventsEach)
  const seconds = (performance.now() - from) / 1_000
  tell(`${events} events stored in ${seconds.toFixed(0)} s, ${Math.round(events / seconds)} a second`)
  const server = await startLethe(lifetime, store.env)
  const headers = { authorization: `Bearer ${store.key}` }
  const baseline = await startProcess(lifetime, 'benchmarks/baselines/route-server.ts', [], store.env)
  const reads = somePaths(pathsAtHand, subjects)
  const probes: Probe[] = [
    { name: 'read', server, paths: reads },
    { name: 'baseline read', server: baseline, paths: reads },
  ]
  for (const sort of size.sorts) {
    const first = `${subjectsPath}?sort=${sort}&limit=50`
    const last = `${first}&cursor=${await cursorOfLastPage(server.url, sort, headers)}`
    probes.push({ name: `first page by ${sort}`, server, paths: [first] })
    probes.push({ name: `last page by ${sort}`, server, paths: [last] })
  }
  if (subjects < size.rounds * size.erasures) throw new Error(`${events} events are too few to erase from`)
  return { name: `${events.toLocaleString('en')} events`, server, headers, subjects, probes }
}

/** Reads the whole list. */
async function cursorOfLastPage(url: string, sort: string, headers: Record<string, string>): Promise<string> {
  let [cursor, before] = ['', '']
  for (;;) {
    const page = `${subjectsPath}?sort=${sort}&limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`
    const response = await fetch(url + page, { headers })
    const { data }: { data: { nextCursor: string | null } } = JSON.parse(await response.text())
    if (data.nextCursor === null) return before
    before = cursor = data.nextCursor
  }
}

/** Erases one subject of ten events at a time; last, because it changes the data. */
async function measureErasures(
  { size, tell }: Bench<GrowthSize>,
  stores: readonly SizedStore[],
): Promise<Group> {
  const figures = new Figures()
  tell('erasures')
  for (let round = 0; round < size.rounds; round++) {
    let smallest: number | null = null
    for (const { name, server, headers } of stores) {
      const from = performance.now()
      for (let erasure = 0; erasure < size.erasures; erasure++) {
        const path = subjectPath(round * size.erasures + erasure)
        const response = await fetch(server.url + path, { method: 'DELETE', headers })
        const { data }: { data: { counts: { events: number } } } = JSON.parse(await response.text())
        if (data.counts.events !== eventsEach) throw new Error('a subject was not there to be erased')
      }
      const eraseMs = (performance.now() - from) / size.erasures
      smallest ??= eraseMs
      figures.add(name, { eraseMs, ratio: smallest / eraseMs })
    }
  }
  return {
    name: `erase of ${eventsEach} events`,
    rows: figures.rows(),
    notes: ['One at a time, mean of a round.'],
  }
}
