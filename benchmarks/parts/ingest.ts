// Batches over HTTP from several senders compared with `lethe import` of the same lines, their effect on
// reads, and memory.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../test/support/postgres.ts'
import type { Bench } from '../bench.ts'
import { BatchSenders } from '../load/batch-senders.ts'
import { readsMeanwhile } from '../load/reads-meanwhile.ts'
import { importFile, writeFile } from '../processes/import-file.ts'
import { startLethe, startProcess } from '../processes/start-process.ts'
import { residentMegabytes } from '../processes/usage.ts'
import { Figures, type Group } from '../report/results.ts'
import type { IngestSize } from '../sizes.ts'
import { emptyStore } from '../stores/empty-store.ts'
import { fillStore } from '../stores/fill-store.ts'
import { createDatabase } from '../stores/postgres-database.ts'

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
    const { url } = server
    const batches = await BatchSenders.prepare({ url, key: store.key, lines: 2 * lines, linesEach, senders })
    const sending = await batches.sendHalf()
    const linesPerSecond = lines / sending.seconds
    rates.add(`${senders} senders`, {
      ...{ linesPerSecond, ratio: linesPerSecond / (lines / seconds), p99Ms: sending.p99Ms },
      megabytes: residentMegabytes(server.pid, 'VmHWM'),
    })
    const noAnswers = join(store.folder, 'answers.json')
    writeFileSync(noAnswers, '[]')
    // New lines, because lines that are already stored cost less.
    let half: Promise<unknown> | undefined
    const send = () => (half ??= batches.sendHalf())
    // A bare server at the same time shows how much of the delay is caused by the machine.
    const bare = await startProcess(
      lifetime,
      'benchmarks/baselines/bare-server.ts',
      ['node:http', noAnswers],
      {},
    )
    const readers = { key: store.key, subjects, quietSeconds }
    await Promise.all([
      readsMeanwhile({ server, ...readers }, 'during batches', send, reads),
      readsMeanwhile(
        { server: bare, ...readers },
        'bare server during batches',
        send,
        reads,
        'bare server before',
      ),
    ])
    await batches.end()
    await Promise.all([server.stop(), bare.stop()])
  }
  const notes = [`${lines.toLocaleString('en')} lines in batches of ${linesEach.toLocaleString('en')}.`]
  return [
    { name: `${name}, batches over HTTP`, rows: rates.rows(), notes },
    { name: `${name}, reads during batches`, rows: reads.rows() },
  ]
}
