// How fast `lethe import` loads a file, beside plain batched inserts of the same rows into the same tables; and its memory.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { subjectKey } from '../src/domain/subject-key.ts'
import { openWriter } from '../src/storage/sqlite/connection.ts'
import { importFile, writeFile } from './import-file.ts'
import { emptyStore } from './support.ts'
import { type LineOrder, subjectsIn, visits } from './visits.ts'

const sizes = process.argv.slice(2).map(Number)
if (sizes.length === 0) sizes.push(1_000_000)
const batchSize = 5_000

/** Rows per second of inserts that look at nothing and count nothing; making the rows is not timed. */
function insertPlainly(path: string, lines: number, order: LineOrder): number {
  const db = openWriter(path)
  const insertSubject = db.prepare(
    'INSERT INTO subjects VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const insertSession = db.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)')
  const insertEvent = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)')
  let spentMs = 0
  function store(batch: (() => unknown)[]): void {
    const from = performance.now()
    db.exec('BEGIN IMMEDIATE')
    for (const insert of batch) insert()
    db.exec('COMMIT')
    spentMs += performance.now() - from
  }
  let batch: (() => unknown)[] = []
  const seen = new Set<string>()
  for (const row of visits(lines, order)) {
    const key = subjectKey(row.trackerId, row.subjectId)
    if (row.type === 'event') {
      const properties = JSON.stringify(row.properties)
      batch.push(() => insertEvent.run(key, row.occurredAt, row.eventId, row.sessionId, row.name, properties))
    } else {
      const attributes = JSON.stringify(row.attributes)
      const { startedAt, endedAt } = row
      batch.push(() => insertSession.run(key, row.sessionId, startedAt, endedAt, 4, attributes, endedAt))
      if (!seen.has(row.subjectId)) {
        seen.add(row.subjectId)
        batch.push(() =>
          insertSubject.run(row.trackerId, row.subjectId, key, startedAt, endedAt, 3, 12, startedAt),
        )
      }
    }
    if (batch.length < batchSize) continue
    store(batch)
    batch = []
  }
  store(batch)
  db.close()
  return (lines + subjectsIn(lines)) / (spentMs / 1_000)
}

for (const lines of sizes) {
  for (const order of ['by time', 'shuffled'] as const) {
    const { folder, env } = await emptyStore()
    const file = join(folder, 'visits.ndjson')
    await writeFile(file, lines, order)
    const plain = await emptyStore()
    const floor = insertPlainly(plain.path, lines, order)
    const { seconds, megabytes } = await importFile(file, env)
    // The plain inserts put the subjects' rows as well; so does the import.
    const rate = (lines + subjectsIn(lines)) / seconds
    console.log(`${lines} lines ${order}, ${Math.round(statSync(file).size / 1e6)} MB`)
    console.log(`  plain batched inserts  ${Math.round(floor)} rows/s`)
    console.log(
      `  lethe import           ${Math.round(rate)} rows/s, ${seconds.toFixed(1)} s, ${Math.round(lines / seconds)} lines/s`,
    )
    console.log(`  ratio                  ${(rate / floor).toFixed(2)}`)
    console.log(`  peak memory            ${Math.round(megabytes)} MB`)
    const again = await importFile(file, env)
    console.log(`  the same file again    ${Math.round(lines / again.seconds)} lines/s`)
  }
}
