// Reads of one subject per second: Lethe beside a bare Fastify route with the same body, in interleaved rounds of one run.
import autocannon from 'autocannon'
import { fillStore, median, startProcess } from './support.ts'

const rounds = 11
const roundSeconds = 2
const connections = 64

const store = await fillStore(2_000, 10)
const lethe = await startProcess('bin/lethe.js', ['serve'], store.env)
const path = store.subjectPath(1_234)
const headers = { authorization: `Bearer ${store.key}` }
const sample = await (await fetch(lethe.url + path, { headers })).text()
const bare = await startProcess('benchmarks/bare-fastify.ts', [], { BODY: sample })

async function requestsPerSecond(url: string): Promise<number> {
  const { requests, non2xx, errors } = await autocannon({
    url: url + path,
    headers,
    connections,
    duration: roundSeconds,
  })
  if (non2xx + errors > 0) throw new Error(`${non2xx + errors} requests failed`)
  return requests.average
}

await requestsPerSecond(lethe.url)
await requestsPerSecond(bare.url)
const measured = { bare: [] as number[], lethe: [] as number[], ratio: [] as number[] }
for (let round = 0; round < rounds; round++) {
  const limit = await requestsPerSecond(bare.url)
  const reads = await requestsPerSecond(lethe.url)
  measured.bare.push(limit)
  measured.lethe.push(reads)
  // Of neighbours in time: what else the machine does changes from second to second.
  measured.ratio.push(reads / limit)
}
const [lowest, highest] = [Math.min(...measured.ratio), Math.max(...measured.ratio)]
console.log(`body                 ${sample.length} bytes`)
console.log(`bare Fastify         ${Math.round(median(measured.bare))} requests/s`)
console.log(`Lethe, read          ${Math.round(median(measured.lethe))} requests/s`)
console.log(
  `ratio                ${median(measured.ratio).toFixed(2)}, median of ${rounds} rounds (${lowest.toFixed(2)} to ${highest.toFixed(2)})`,
)
lethe.stop()
bare.stop()
