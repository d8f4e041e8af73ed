// Searches for a person among few and many subjects, on each store, over HTTP, and the cost of identifiers in
// an import.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../test/support/postgres.ts'
import type { Bench } from '../bench.ts'
import { importFile, writeFile } from '../processes/import-file.ts'
import { type RunningProcess, startLethe } from '../processes/start-process.ts'
import { Figures, type Group } from '../report/results.ts'
import type { FindSize } from '../sizes.ts'
import { emptyStore } from '../stores/empty-store.ts'
import { fillStore, identifiersOf, subjectId } from '../stores/fill-store.ts'
import { createDatabase } from '../stores/postgres-database.ts'

interface Crowd {
  name: string
  server: RunningProcess
  key: string
  subjects: number
}

export async function measureFind(bench: Bench<FindSize>): Promise<Group[]> {
  const groups: Group[] = []
  for (const store of bench.size.stores) groups.push(await measureSearch(bench, store))
  return [...groups, await measureImport(bench)]
}

async function measureSearch(bench: Bench<FindSize>, store: string): Promise<Group> {
  const { size, lifetime, tell } = bench
  const postgres = store === 'SQLite' ? null : await startPostgres({})
  if (postgres) lifetime.after(() => postgres.remove())
  const crowds: Crowd[] = []
  for (const subjects of size.subjects) {
    tell(`${store}: ${subjects} subjects of two identifiers each`)
    const address = postgres ? await createDatabase(postgres.url, `bench_${subjects}`) : undefined
    const { env, key } = await emptyStore(lifetime, address === undefined ? {} : { address })
    await fillStore(env, subjects, 1, identifiersOf)
    const name = `${subjects.toLocaleString('en')} subjects`
    crowds.push({ name, server: await startLethe(lifetime, env), key, subjects })
  }
  const figures = new Figures()
  // The first round has unprepared statements and cold pages.
  for (let round = -1; round < size.rounds; round++) {
    let smallest: number | null = null
    for (const crowd of crowds) {
      const searchMs = await search(crowd, size.searches)
      smallest ??= searchMs
      if (round >= 0) figures.add(crowd.name, { searchMs, ratio: smallest / searchMs })
    }
  }
  for (const { server } of crowds) await server.stop()
  return {
    name: `search on ${store}`,
    rows: figures.rows(),
    notes: ['One at a time, mean of a round; half of them by `email`, half by `userId`.'],
  }
}

/** The duration of one search. */
async function search({ server, key, subjects }: Crowd, count: number): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const from = performance.now()
  for (let number = 0; number < count; number++) {
    const subject = Math.floor(Math.random() * subjects)
    const identifiers = Object.entries(identifiersOf(subject))
    const [name, value] = identifiers[number % identifiers.length] ?? []
    const response = await fetch(`${server.url}/v1/analytics/subjects/search`, {
      ...{ method: 'POST', headers, body: JSON.stringify({ identifier: { name, value } }) },
    })
    const { data }: { data: { subjects: { subjectId: string }[] } } = JSON.parse(await response.text())
    if (data.subjects.length !== 1 || data.subjects[0]?.subjectId !== subjectId(subject)) {
      throw new Error('a search found somebody else')
    }
  }
  return (performance.now() - from) / count
}

async function measureImport({ size, lifetime, tell }: Bench<FindSize>): Promise<Group> {
  const { lines, rounds } = size
  const figures = new Figures()
  for (let round = 0; round < rounds; round++) {
    tell(`import of ${lines} lines, round ${round + 1} of ${rounds}`)
    let plain: number | null = null
    for (const name of ['without', 'with two in every session’s line']) {
      const { folder, env } = await emptyStore(lifetime)
      const file = join(folder, 'visits.ndjson')
      await writeFile(file, lines, 'by time', { areIdentified: name !== 'without' })
      const { seconds } = await importFile(file, env)
      const rowsPerSecond = lines / seconds
      plain ??= rowsPerSecond
      figures.add(name, { rowsPerSecond, ratio: rowsPerSecond / plain })
      rmSync(folder, { recursive: true })
    }
  }
  return {
    name: 'import with identifiers',
    rows: figures.rows(),
    notes: [`${lines.toLocaleString('en')} lines, on SQLite.`],
  }
}
