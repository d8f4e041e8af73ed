// Batches over HTTP from several senders compared with `lethe import` of the same lines, their effect on reads, and memory.
import { join } from 'node:path'
import { startPostgres } from '../../test/support/postgres.ts'
import type { Bench } from '../bench.ts'
import { readsMeanwhile } from '../load/reads-meanwhile.ts'
import { asLine, importFile, writeFile } from '../processes/import-file.ts'
import { type RunningProcess, startLethe } from '../processes/start-process.ts'
import { residentMegabytes } from '../processes/usage.ts'
import { Figures, type Group } from '../report/results.ts'
import type { IngestSize } from '../sizes.ts'
import { emptyStore } from '../stores/empty-store.ts'
import { fillStore } from '../stores/fill-store.ts'
import { createDatabase } from '../stores/postgres-database.ts'
import { tracker, visits } from '../stores/visits.ts'

const eventsEach = 10

export async function measureIngest(bench: Bench<IngestSize>): Promise<Group[]> {
  const groups: Group[] = []
  for (const store of bench.size.stores) groups.push(...(await measureOn(bench, store)))
  return groups
}

async function measureOn(bench: Bench<IngestSize>, name: string): Promise<Group[]> {
  const { size, lifetime, tell } = bench
  const { lines, linesEach, senders, subjects, quietSeconds } = size
  const postgres = name === 'SQLite' ? null : await startPostgres({})
  if (postgres) lifetime.after(() => postgres.remove())
  let databases = 0
  const newStore = async () => {
    const address = postgres ? await createDatabase(postgres.url, `bench_${++databases}`) : undefined
    return emptyStore(lifetime, address === undefined ? {} : { address })
  }
  const batches = batchesOf(lines, linesEach)
  const [rates, reads] = [new Figures(), new Figures()]
  for (let round = 0; round < size.rounds; round++) {
    tell(`${name}, round ${round + 1} of ${size.rounds}`)
    const imported = await newStore()
    const file = join(imported.folder, 'visits.ndjson')
    await writeFile(file, lines, 'by time')
    const { seconds } = await importFile(file, imported.env)
    rates.add('lethe import', { linesPerSecond: lines / seconds, ratio: 1 })

    const store = await newStore()
    await fillStore(store.env, subjects, eventsEach)
    const server = await startLethe(lifetime, store.env)
    const send = (some: readonly Buffer<ArrayBuffer>[]) => sendAll(server, store.key, some, senders)
    const sending = await send(batches)
    const linesPerSecond = lines / sending.seconds
    rates.add(`${senders} senders`, {
      ...{ linesPerSecond, ratio: linesPerSecond / (lines / seconds), p99Ms: sending.p99Ms },
      megabytes: residentMegabytes(server.pid, 'VmHWM'),
    })
    await readsMeanwhile(
      { server, key: store.key, subjects, quietSeconds },
      'during batches',
      () => send(batches),
      reads,
    )
    await server.stop()
  }
  const notes = [`${lines.toLocaleString('en')} lines in batches of ${linesEach.toLocaleString('en')}.`]
  return [
    { name: `${name}, batches over HTTP`, rows: rates.rows(), notes },
    { name: `${name}, reads during batches`, rows: reads.rows() },
  ]
}

function batchesOf(lines: number, linesEach: number): Buffer<ArrayBuffer>[] {
  const batches: Buffer<ArrayBuffer>[] = []
  let batch: string[] = []
  for (const row of visits(lines, 'by time')) {
    batch.push(asLine(row))
    if (batch.length < linesEach) continue
    batches.push(Buffer.from(batch.join('\n')))
    batch = []
  }
  if (batch.length > 0) batches.push(Buffer.from(batch.join('\n')))
  return batches
}

/** Sends every batch once; each sender has one request in flight. */
async function sendAll(
  { url }: RunningProcess,
  key: string,
  batches: readonly Buffer<ArrayBuffer>[],
  senders: number,
): Promise<{ seconds: number; p99Ms: number }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' }
  const durations: number[] = []
  let next = 0
  async function sender(): Promise<void> {
    for (let body = batches[next++]; body; body = batches[next++]) {
      const from = performance.now()
      const response = await fetch(`${url}/v1/ingest/trackers/${tracker}/batches`, {
        method: 'POST',
        headers,
        body,
      })
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
      durations.push(performance.now() - from)
    }
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: senders }, sender))
  const seconds = (performance.now() - from) / 1_000
  durations.sort((a, b) => a - b)
  return { seconds, p99Ms: durations[Math.floor(durations.length * 0.99)] ?? 0 }
}
