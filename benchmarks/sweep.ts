// What reads at 200 a second feel of a sweep of 100,000 aged events; and what sweeps of all sizes cost in a small and in a large
// store, beside plain deletes of the same rows in transactions of the same size.
import { copyFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../src/config.ts'
import { sweepAged } from '../src/operations/sweep-aged.ts'
import { openWriter } from '../src/storage/sqlite/connection.ts'
import { openWorkplace } from '../src/workplace.ts'
import { describeReads, SteadyReads } from './steady-reads.ts'
import { daysBack, type FilledStore, fillStore, startProcess } from './support.ts'
import { tracker } from './visits.ts'

const quietMs = 10_000
const eventsEach = 20
const rowsPerStep = 5_000

/** The window out of which about so many events have aged: they are spread evenly over the days. */
function windowFor(aged: number, subjects: number): number {
  return daysBack * (1 - aged / (subjects * eventsEach))
}

async function readsDuringSweep(store: FilledStore, subjects: number): Promise<void> {
  const days = Math.floor(windowFor(100_000, subjects))
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
  const { sessions, events, durationMs }: Record<string, number> = JSON.parse(swept)
  console.log(`${events} events and ${sessions} sessions swept in ${durationMs} ms, reads at 200 a second`)
  console.log(describeReads('  before', quiet))
  console.log(describeReads('  during', during))
  console.log(`  p99 during, to p99 before: ${(during.p99 / quiet.p99).toFixed(2)}\n`)
  await reads.stop()
  await workplace.close()
  server.stop()
}

async function costOfSweeps(store: FilledStore, subjects: number): Promise<void> {
  console.log(`${subjects * eventsEach} events of ${subjects} subjects`)
  for (const aged of [0, 1_000, 10_000, 100_000]) {
    const path = `${store.path}.swept`
    copyFileSync(store.path, path)
    const workplace = await openWorkplace(readConfig({ ...store.env, LETHE_STORE: `sqlite:${path}` }))
    const days = windowFor(aged, subjects)
    const pro = aged === 0 ? 36_500 : days
    // Starts the writer thread, which is not what is measured.
    await workplace.organisations.setPlan('nobody', 'free')
    const from = performance.now()
    const swept = await sweepAged({ ...workplace, retentionDays: { ...workplace.retentionDays, pro } })
    const sweptMs = performance.now() - from
    await workplace.close()
    copyFileSync(store.path, path)
    const plainMs = aged === 0 ? 0 : deletePlainly(path, Date.now() - days * 86_400_000)
    const rows = swept.events + swept.sessions
    const plain =
      aged === 0 ? '' : `, plain deletes ${plainMs.toFixed(0)} ms (${(plainMs / sweptMs).toFixed(2)})`
    const each = rows === 0 ? '' : `, ${((sweptMs * 1_000) / rows).toFixed(1)} µs a row`
    console.log(`  ${String(rows).padStart(7)} rows aged: ${sweptMs.toFixed(1)} ms${each}${plain}`)
  }
}

/** The same rows gone, subject by subject, and nothing counted. Finding the subjects is not timed. */
function deletePlainly(path: string, since: number): number {
  const db = openWriter(path)
  const aged = db.prepare(
    'SELECT subject_key FROM subjects WHERE tracker_id = ? AND oldest_at < ? ORDER BY oldest_at',
  )
  const keys = aged.all(tracker, since).map((row) => row.subject_key ?? null)
  const deleteEvents = db.prepare('DELETE FROM events WHERE subject_key = ? AND occurred_at < ?')
  const deleteSessions = db.prepare('DELETE FROM sessions WHERE subject_key = ? AND ended_at < ?')
  const from = performance.now()
  let room = rowsPerStep
  db.exec('BEGIN IMMEDIATE')
  for (const key of keys) {
    room -= Number(deleteEvents.run(key, since).changes) + Number(deleteSessions.run(key, since).changes)
    if (room > 0) continue
    db.exec('COMMIT; BEGIN IMMEDIATE')
    room = rowsPerStep
  }
  db.exec('COMMIT')
  const tookMs = performance.now() - from
  db.close()
  return tookMs
}

for (const subjects of [20_000, 100_000]) {
  const store = await fillStore(subjects, eventsEach, 'pro')
  await costOfSweeps(store, subjects)
  if (subjects === 20_000) await readsDuringSweep(store, subjects)
}
process.exit()
