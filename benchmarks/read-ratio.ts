// Reads of one subject per second: Lethe beside a bare Fastify route with the same body, in interleaved rounds of one run.
import autocannon from 'autocannon'
import { fillStore, median, startProcess } from './support.ts'

const rounds = 3
const roundSeconds = 4
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
const measured = { bare: [] as number[], lethe: [] as number[] }
for (let round = 0; round < rounds; round++) {
  measured.bare.push(await requestsPerSecond(bare.url))
  measured.lethe.push(await requestsPerSecond(lethe.url))
}
const [bareMedian, letheMedian] = [median(measured.bare), median(measured.lethe)]
console.log(`body                 ${sample.length} bytes`)
console.log(`bare Fastify         ${Math.round(bareMedian)} requests/s`)
console.log(`Lethe, read          ${Math.round(letheMedian)} requests/s`)
console.log(`ratio                ${(letheMedian / bareMedian).toFixed(2)}`)
lethe.stop()
bare.stop()
