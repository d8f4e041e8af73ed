// Erasures of subjects of different sizes over HTTP, compared with a plain DELETE, and their effect on 200
// reads per second.
import { readConfig } from '../../src/config.ts'
import { openServices } from '../../src/start.ts'
import { PlainDeletes } from '../baselines/plain-sqlite.ts'
import type { Bench } from '../bench.ts'
import { readsMeanwhile } from '../load/reads-meanwhile.ts'
import { type RunningProcess, startLethe } from '../processes/start-process.ts'
import { Figures, type Group } from '../report/results.ts'
import type { EraseSize } from '../sizes.ts'
import { copyStore } from '../stores/copy-store.ts'
import { type BenchStore, emptyStore, subjectsPath } from '../stores/empty-store.ts'
import { addOverlapping, addSubject, fillStore } from '../stores/fill-store.ts'

const eventsEach = 10

export async function measureErase(bench: Bench<EraseSize>): Promise<Group[]> {
  const { size, lifetime, tell } = bench
  const store = await emptyStore(lifetime)
  const plain = size.events.flatMap((events, kind) =>
    Array.from({ length: size.subjects[kind] ?? 1 }, (_, number) => ({
      name: `${events.toLocaleString('en')} events`,
      subjectId: `visitor-of-${events}-${number}`,
      events,
    })),
  )
  const overlapping = {
    name: `${(size.overlappingSessions * 10).toLocaleString('en')} events in ${size.overlappingSessions.toLocaleString('en')} overlapping sessions`,
    subjectId: 'visitor-of-overlapping',
    events: size.overlappingSessions * 10,
  }
  const large = [...plain, overlapping]
  tell(`${large.length} large subjects among ${size.otherSubjects}`)
  await fillStore(store.env, size.otherSubjects, eventsEach)
  const services = await openServices(readConfig(store.env))
  for (const { subjectId, events } of [...plain, ...warmUps]) await addSubject(services, subjectId, events)
  await addOverlapping(services, overlapping.subjectId, size.overlappingSessions)
  await services.close()
  const erasures = new Figures()
  const reads = new Figures()
  const reading = { key: store.key, subjects: size.otherSubjects, quietSeconds: size.quietSeconds }
  for (let round = 0; round < size.rounds; round++) {
    tell(`round ${round + 1} of ${size.rounds}`)
    const bare = deleteAll(store, large)
    const path = copyStore(store, 'erased')
    const server = await startLethe(lifetime, { ...store.env, LETHE_STORE: `sqlite:${path}` })
    for (const { subjectId, events } of warmUps) await erase(server, store.key, subjectId, events)
    for (const [index, { name, subjectId, events }] of large.entries()) {
      const isWatched = events === Math.max(...size.events) && size.quietSeconds > 0
      let tookMs = Number.NaN
      const work = async () => {
        tookMs = await erase(server, store.key, subjectId, events)
      }
      if (isWatched) await readsMeanwhile({ server, ...reading }, 'during the erasure', work, reads)
      else await work()
      const { bareMs = Number.NaN, truncatedMs = Number.NaN } = bare[index] ?? {}
      erasures.add(name, {
        bareMs,
        truncatedMs,
        eraseMs: tookMs,
        ratio: bareMs / tookMs,
        truncatedRatio: truncatedMs / tookMs,
      })
    }
    await server.stop()
  }
  const groups: Group[] = [{ name: 'erasures', rows: erasures.rows() }]
  const notes = [`200 reads a second, while ${largest(size)}.`]
  if (size.quietSeconds > 0) groups.push({ name: 'reads meanwhile', rows: reads.rows(), notes })
  return groups
}

/** Erased before the measurement, so that statements are prepared and pages cached. */
const warmUps = [1, 2, 3].map((number) => ({ subjectId: `warm-up-${number}`, events: 10 }))

function largest({ events }: EraseSize): string {
  return `a subject of ${Math.max(...events).toLocaleString('en')} events is erased`
}

function deleteAll(store: BenchStore, large: readonly { subjectId: string; events: number }[]) {
  const deletes = new PlainDeletes(copyStore(store, 'deleted'))
  for (const { subjectId, events } of warmUps) deletes.delete(subjectId, events)
  const measured = large.map(({ subjectId, events }) => deletes.delete(subjectId, events))
  deletes.close()
  return measured
}

async function erase(
  server: RunningProcess,
  key: string,
  subjectId: string,
  events: number,
): Promise<number> {
  const from = performance.now()
  const response = await fetch(`${server.url}${subjectsPath}/${subjectId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${key}` },
  })
  const { data }: { data: { counts: { events: number } } } = JSON.parse(await response.text())
  const tookMs = performance.now() - from
  if (data.counts.events !== events)
    throw new Error(`${data.counts.events} events were erased, not ${events}`)
  return tookMs
}
