// The export of a large subject over HTTP compared with plain SQL, its memory, and its effect on other
// requests.
import { Client } from 'pg'
import { readConfig } from '../../src/config.ts'
import { openServices } from '../../src/start.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { readAllBarely } from '../baselines/bare-postgres.ts'
import { readAllPlainly } from '../baselines/plain-sqlite.ts'
import type { Bench } from '../bench.ts'
import { readsMeanwhile } from '../load/reads-meanwhile.ts'
import { Taker } from '../load/whole-export.ts'
import { startLethe } from '../processes/start-process.ts'
import { residentMegabytes } from '../processes/usage.ts'
import { Figures, type Group } from '../report/results.ts'
import type { ExportSize } from '../sizes.ts'
import { emptyStore, subjectsPath } from '../stores/empty-store.ts'
import { addSubject, fillStore } from '../stores/fill-store.ts'
import { createDatabase } from '../stores/postgres-database.ts'

const subjectId = 'visitor-of-many'
const eventsEach = 10

export async function measureExport(bench: Bench<ExportSize>): Promise<Group[]> {
  const groups: Group[] = []
  for (const store of bench.size.stores) groups.push(...(await measureOn(bench, store)))
  return groups
}

async function measureOn(bench: Bench<ExportSize>, name: string): Promise<Group[]> {
  const { size, lifetime, tell } = bench
  const postgres = name === 'SQLite' ? null : await startPostgres({})
  if (postgres) lifetime.after(() => postgres.remove())
  const address = postgres ? await createDatabase(postgres.url, 'bench') : undefined
  const store = await emptyStore(lifetime, address === undefined ? {} : { address })
  tell(`${name}: a subject of ${size.events} events among ${size.otherSubjects}`)
  await fillStore(store.env, size.otherSubjects, eventsEach)
  const services = await openServices(readConfig(store.env))
  await addSubject(services, subjectId, size.events)
  await services.close()
  const [exports, reads] = [new Figures(), new Figures()]
  const reading = { key: store.key, subjects: size.otherSubjects, quietSeconds: size.quietSeconds }
  const taker = await Taker.start()
  lifetime.after(() => taker.stop())
  for (let round = 0; round < size.rounds; round++) {
    tell(`${name}, round ${round + 1} of ${size.rounds}`)
    const bareMs = address
      ? await readWithClient(address)
      : readAllPlainly(store.path, subjectId, size.events)
    const server = await startLethe(lifetime, store.env)
    const url = `${server.url}${subjectsPath}/${subjectId}/export`
    const wanted = { url, key: store.key }
    const idleMegabytes = residentMegabytes(server.pid, 'RssAnon')
    let megabytes = idleMegabytes
    const watch = setInterval(() => {
      megabytes = Math.max(megabytes ?? 0, residentMegabytes(server.pid, 'RssAnon') ?? 0)
    }, 50)
    const alone = await taker.take({ ...wanted, expected: { events: size.events } })
    clearInterval(watch)
    const again = () => taker.take({ ...wanted, expected: { bodyBytes: alone.bodyBytes } })
    for (let i = 0; i < size.readings; i++) {
      await readsMeanwhile({ server, ...reading }, 'during the export', again, reads)
    }
    await server.stop()
    exports.add('plain SQL', { tookMs: bareMs, ratio: 1 })
    exports.add('export', { ...alone, ratio: bareMs / alone.tookMs, idleMegabytes, megabytes })
  }
  const events = size.events.toLocaleString('en')
  return [
    { name: `export on ${name}`, rows: exports.rows(), notes: [`A subject of ${events} events.`] },
    { name: `reads meanwhile on ${name}`, rows: reads.rows(), notes: ['200 reads a second.'] },
  ]
}

async function readWithClient(address: string): Promise<number> {
  const sql = new Client(address)
  await sql.connect()
  const from = performance.now()
  await readAllBarely(sql, subjectId)
  const tookMs = performance.now() - from
  await sql.end()
  return tookMs
}
