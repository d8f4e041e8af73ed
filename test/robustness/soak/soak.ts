// Runs a mixed load on one service for a given time. Samples memory, handles and latency, draws them, and
// fails if they rise.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { commandLine } from '../../support/command-line.ts'
import { startPostgres } from '../../support/postgres.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { createKey, startRoomyServer, stopServer } from '../kill/server.ts'
import { buildShop, buildShopAt } from '../kill/visits.ts'
import { MixedLoad, population, retention } from './mixed-load.ts'
import { chart, cpuSeconds, csv, type Sample, sample, trendsOf } from './trend.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    store: { type: 'string', default: 'sqlite' },
    rate: { type: 'string', default: '120' },
    'every-seconds': { type: 'string', default: '10' },
    out: { type: 'string', default: 'soak-results' },
  },
})
const [minutes, rate, everySeconds] = [values.minutes, values.rate, values['every-seconds']].map(Number)
if (!minutes || !rate || !everySeconds || (values.store !== 'sqlite' && values.store !== 'postgres')) {
  console.error(
    'usage: npm run soak -- [--store sqlite|postgres] [--minutes 60] [--rate 120] [--every-seconds 10] [--out DIR]',
  )
  process.exit(2)
}
const endings: (() => void | Promise<void>)[] = []
const lifetime = { after: (work: () => void | Promise<void>) => endings.unshift(work) }
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())

try {
  process.exitCode = await soak(minutes, rate, everySeconds)
} finally {
  for (const end of endings) await end()
}

async function soak(minutes: number, rate: number, everySeconds: number): Promise<number> {
  const cli = await openStore()
  const server = await startRoomyServer(cli, {
    ...retention,
    LETHE_METRICS_PORT: '0',
    LETHE_SCRUB_HOUR: 'off',
  })
  const [, metricsUrl = ''] = await server.waitFor('stdout', /"metricsUrl":"([^"]+)"/)
  const watched = { pid: server.pid, metricsUrl }
  const load = new MixedLoad({
    url: server.url,
    key: await createKey(cli),
    cli,
    random: seededRandom(),
    rate,
  })
  const samples: Sample[] = []
  const startedAt = performance.now()
  const elapsedSeconds = () => (performance.now() - startedAt) / 1_000
  while (elapsedSeconds() < minutes * 60 && !interrupted.signal.aborted && load.faults.length === 0) {
    const nextMs = ((samples.length + 1) * everySeconds - elapsedSeconds()) * 1_000
    await delay(Math.max(nextMs, 0), null, { signal: interrupted.signal }).catch(() => null)
    samples.push(await sample(watched, Math.round(elapsedSeconds()), load.takeLatencies()))
    console.log(inWords(samples.at(-1)))
  }
  await load.stop()
  const share = (await cpuSeconds(watched)) / elapsedSeconds()
  await stopServer(server)
  const complaints = server.stdout().match(/^\{"level":[456]0.*$/gm) ?? []
  const title = `${values.store}, ${load.requests} requests in ${(elapsedSeconds() / 60).toFixed(0)} min, ${(100 * share).toFixed(0)} % of a core`
  return report(title, samples, [...load.faults, ...complaints])
}

async function openStore() {
  if (values.store === 'sqlite') {
    const cli = commandLine(lifetime)
    await buildShop(cli.storePath, population())
    return cli
  }
  // With PostgreSQL's default durability.
  const server = await startPostgres({})
  lifetime.after(server.remove)
  await buildShopAt(server.url, population())
  return commandLine(lifetime, server.url)
}

function inWords(sample: Sample | undefined): string {
  if (!sample) return ''
  const { second, residentMb, heapMb, handles, p50Ms, p99Ms } = sample
  return `${second} s: ${residentMb.toFixed(0)} MB resident, heap ${heapMb.toFixed(0)} MB, ${handles} handles, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
}

function report(title: string, samples: readonly Sample[], faults: readonly string[]): number {
  mkdirSync(values.out, { recursive: true })
  const file = join(values.out, `soak-${values.store}`)
  writeFileSync(`${file}.csv`, csv(samples))
  writeFileSync(`${file}.svg`, chart(`Soak on ${title}`, samples))
  const trends = trendsOf(samples)
  console.log(`\n${title}; ${file}.csv, ${file}.svg\n`)
  console.log('median of each quarter after the warm-up')
  for (const { measure, quarters, rises } of trends) {
    const figures = quarters.map((figure) => figure.toFixed(1).padStart(9)).join('')
    console.log(`${measure.padEnd(12)}${figures}  ${rises ? 'RISES' : 'flat'}`)
  }
  for (const fault of faults.slice(0, 20)) console.log(`fault: ${fault}`)
  return faults.length > 0 || trends.some(({ rises }) => rises) ? 1 : 0
}
