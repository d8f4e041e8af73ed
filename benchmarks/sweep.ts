// What reads at 200 a second feel of a sweep of 100,000 aged events, and what the sweep costs in a small and in a large store.
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../src/config.ts'
import { openWorkplace } from '../src/start.ts'
import { describeReads, SteadyReads } from './steady-reads.ts'
import { daysBack, fillStore, startProcess } from './support.ts'

const quietMs = 10_000
const eventsEach = 20
const agedEvents = 100_000

/** As many aged events among few and among many others. */
for (const subjects of [20_000, 100_000]) {
  const store = await fillStore(subjects, eventsEach, 'pro')
  // Events are spread evenly over so many days: a window this long lets as many age out as we want.
  const days = Math.floor(daysBack * (1 - agedEvents / (subjects * eventsEach)))
  const env = { ...store.env, LETHE_RETENTION_DAYS: `pro=36500,free=${days}`, LETHE_SWEEP_SECONDS: '1' }
  const server = await startProcess('src/main.ts', ['serve', '--json'], env)
  const path = () => store.subjectPath(Math.floor(Math.random() * subjects))
  const reads = new SteadyReads(server.url, store.key, path, 5)
  await delay(3_000)
  const quiet = await reads.during(() => delay(quietMs))
  const workplace = await openWorkplace(readConfig(env))
  let swept = ''
  const during = await reads.during(async () => {
    const line = server.line(/"msg":"swept"/)
    await workplace.organisations.setPlan('bench', 'free')
    swept = await line
  })
  const { subjects: gone, sessions, events, durationMs }: Record<string, number> = JSON.parse(swept)
  console.log(`${subjects} subjects with ${subjects * eventsEach} events; the window is cut to ${days} days`)
  console.log(describeReads('  before the sweep', quiet))
  console.log(describeReads('  during the sweep', during))
  console.log(`  p99 ratio                       ${(during.p99 / quiet.p99).toFixed(2)}`)
  console.log(
    `  swept                           ${events} events, ${sessions} sessions, ${gone} subjects in ${durationMs} ms`,
  )
  console.log(
    `                                  ${Math.round((((events ?? 0) + (sessions ?? 0)) / (durationMs ?? 1)) * 1_000)} rows/s`,
  )
  await reads.stop()
  await workplace.close()
  server.stop()
}
