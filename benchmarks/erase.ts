// Erasing one subject with a million events, beside a bare DELETE of the same rows; and what reads at 200 a second feel of it.
import { copyFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../src/config.ts'
import { subjectKey } from '../src/domain/subject-key.ts'
import { openWriter } from '../src/storage/sqlite/connection.ts'
import { openWorkplace } from '../src/workplace.ts'
import { describeReads, SteadyReads } from './steady-reads.ts'
import { addSubject, fillStore, median, startProcess } from './support.ts'
import { tracker } from './visits.ts'

const rounds = 3
const quietMs = 5_000
const events = Number(process.argv[2] ?? 1_000_000)
const subjects = 20_000
const large = 'visitor-of-a-lifetime'

const store = await fillStore(subjects, 10)
const workplace = await openWorkplace(readConfig(store.env))
await addSubject(workplace, large, events)
await workplace.close()

/** The same rows gone, with the same settings, and nothing else done. */
function deleteBarely(path: string): number {
  const db = openWriter(path)
  const key = subjectKey(tracker, large)
  const from = performance.now()
  db.exec('BEGIN IMMEDIATE')
  const { changes } = db.prepare('DELETE FROM events WHERE subject_key = ?').run(key)
  db.prepare('DELETE FROM sessions WHERE subject_key = ?').run(key)
  db.prepare('DELETE FROM subjects WHERE tracker_id = ? AND subject_id = ?').run(tracker, large)
  db.exec('COMMIT')
  const tookMs = performance.now() - from
  if (changes !== events) throw new Error(`${changes} events were there`)
  db.close()
  return tookMs
}

const bare: number[] = []
const erasures: number[] = []
const ratios: number[] = []
for (let round = 0; round < rounds; round++) {
  const copy = (name: string) => {
    const path = `${store.path}.${name}-${round}`
    copyFileSync(store.path, path)
    return path
  }
  bare.push(deleteBarely(copy('bare')))
  const env = { ...store.env, LETHE_STORE: `sqlite:${copy('lethe')}` }
  const server = await startProcess('src/main.ts', ['serve', '--json'], env)
  const path = () => store.subjectPath(Math.floor(Math.random() * subjects))
  const reads = new SteadyReads(server.url, store.key, path, 5)
  await delay(2_000)
  const quiet = await reads.during(() => delay(quietMs))
  let tookMs = 0
  const during = await reads.during(async () => {
    const from = performance.now()
    const response = await fetch(`${server.url}${store.listPath}/${large}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${store.key}` },
    })
    const { data } = (await response.json()) as { data: { counts: { events: number } } }
    tookMs = performance.now() - from
    if (data.counts.events !== events) throw new Error(`${data.counts.events} events were erased`)
  })
  erasures.push(tookMs)
  ratios.push(during.p99 / quiet.p99)
  console.log(
    `round ${round + 1}: bare DELETE ${Math.round(bare[round] ?? 0)} ms, erasure ${Math.round(tookMs)} ms`,
  )
  console.log(describeReads('  before', quiet))
  console.log(describeReads('  during the erasure', during))
  await reads.stop()
  server.stop()
}
console.log(`\n${events} events, medians of ${rounds} rounds`)
console.log(`bare DELETE        ${Math.round(median(bare))} ms`)
console.log(
  `erasure over HTTP  ${Math.round(median(erasures))} ms, ${(median(erasures) / median(bare)).toFixed(2)} times that`,
)
console.log(`reads' p99         ${median(ratios).toFixed(2)} times what it was before`)
process.exit()
