// How fast `lethe import` loads a file, beside plain batched inserts of the same rows into the same tables; and its memory.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { IncomingRow } from '../src/domain/ingest.ts'
import { formatInstant } from '../src/domain/instant.ts'
import { subjectKey } from '../src/domain/subject-key.ts'
import { openWriter } from '../src/storage/sqlite/connection.ts'
import { emptyStore, root } from './support.ts'
import { type LineOrder, subjectsIn, visits } from './visits.ts'

const sizes = process.argv.slice(2).map(Number)
if (sizes.length === 0) sizes.push(1_000_000)
const batchSize = 5_000

async function writeFile(path: string, lines: number, order: LineOrder): Promise<void> {
  const file = createWriteStream(path)
  let text = ''
  for (const row of visits(lines, order)) {
    text += `${JSON.stringify(asLine(row))}\n`
    if (text.length < 1_000_000) continue
    if (!file.write(text)) await once(file, 'drain')
    text = ''
  }
  file.end(text)
  await once(file, 'finish')
}

function asLine(row: IncomingRow): unknown {
  return row.type === 'event'
    ? { ...row, occurredAt: formatInstant(row.occurredAt) }
    : { ...row, startedAt: formatInstant(row.startedAt), endedAt: formatInstant(row.endedAt) }
}

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

async function importFile(
  file: string,
  env: Record<string, string>,
): Promise<{ seconds: number; megabytes: number }> {
  const from = performance.now()
  const child = spawn(process.execPath, [join(root, 'src/main.ts'), 'import', file, '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let megabytes = 0
  const watch = setInterval(() => {
    const peak = /VmHWM:\s+(\d+) kB/.exec(readStatus(child.pid))?.[1]
    if (peak !== undefined) megabytes = Number(peak) / 1_000
  }, 100)
  const [code] = await once(child, 'exit')
  clearInterval(watch)
  if (code !== 0) throw new Error(`lethe import ended with ${code}`)
  return { seconds: (performance.now() - from) / 1_000, megabytes }
}

/** What Linux knows of a process; nothing elsewhere, or when it has ended. */
function readStatus(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
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
