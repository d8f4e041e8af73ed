// What a read and a page of 50 cost in a small and in a large store, over HTTP, in interleaved rounds of one run.
import { type FilledStore, fillStore, median, startProcess } from './support.ts'

const rounds = 30
const requestsPerRound = 25
const eventsEach = 10
const sizes = [2_000, 200_000]

interface Probe {
  size: number
  name: string
  next(): string
  costs: number[]
}

async function probesOf(size: number): Promise<{ probes: Probe[]; measure(path: string): Promise<number> }> {
  const startedAt = performance.now()
  const store = await fillStore(size, eventsEach)
  console.error(
    `filled ${size} subjects, ${size * eventsEach} events in ${Math.round((performance.now() - startedAt) / 1000)} s`,
  )
  const { url } = await startProcess('bin/lethe.js', ['serve'], store.env)
  const ask = async (path: string) => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${store.key}` } })
    if (response.status !== 200) throw new Error(`${response.status} for ${path}`)
    return response.json()
  }
  const probes: Probe[] = [
    { size, name: 'read', next: () => store.subjectPath(Math.floor(Math.random() * size)), costs: [] },
  ]
  for (const sort of ['subjectId', 'lastSeenAt', '-lastSeenAt']) {
    const first = `${store.listPath}?sort=${sort}&limit=50`
    const last = `${first}&cursor=${await cursorOfLastPage(store, sort, ask)}`
    probes.push({ size, name: `first page by ${sort}`, next: () => first, costs: [] })
    probes.push({ size, name: `last page by ${sort}`, next: () => last, costs: [] })
  }
  return {
    probes,
    async measure(path) {
      const from = performance.now()
      await ask(path)
      return performance.now() - from
    },
  }
}

/** Walks the whole list. */
async function cursorOfLastPage(
  store: FilledStore,
  sort: string,
  ask: (path: string) => Promise<unknown>,
): Promise<string> {
  let [cursor, before] = ['', '']
  while (true) {
    const page = `${store.listPath}?sort=${sort}&limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`
    const { data } = (await ask(page)) as { data: { nextCursor: string | null } }
    if (data.nextCursor === null) return before
    before = cursor = data.nextCursor
  }
}

const stores = []
for (const size of sizes) stores.push(await probesOf(size))
for (let round = 0; round < rounds; round++) {
  for (const { probes, measure } of stores) {
    for (const probe of probes) {
      for (let request = 0; request < requestsPerRound; request++)
        probe.costs.push(await measure(probe.next()))
    }
  }
}
const [small, large] = stores
console.log(`median of ${rounds * requestsPerRound} requests, one at a time, in ms\n`)
console.log(
  `${''.padEnd(28)}${sizes.map((size) => `${size} subjects`.padStart(18)).join('')}${'ratio'.padStart(8)}`,
)
for (const [index, probe] of (small?.probes ?? []).entries()) {
  const [a, b] = [median(probe.costs), median(large?.probes[index]?.costs ?? [])]
  console.log(
    `${probe.name.padEnd(28)}${a.toFixed(3).padStart(18)}${b.toFixed(3).padStart(18)}${(b / a).toFixed(2).padStart(8)}`,
  )
}
process.exit()
