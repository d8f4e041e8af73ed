import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import { formatInstant } from '../../src/domain/instant.ts'
import { type LineOrder, visits } from '../stores/visits.ts'
import { lethe, root } from './root.ts'
import { residentMegabytes } from './usage.ts'

/** Writes a file with this many lines. */
export async function writeFile(
  path: string,
  lines: number,
  order: LineOrder,
  { areIdentified = false } = {},
): Promise<void> {
  const file = createWriteStream(path)
  let text = ''
  for (const row of visits(lines, order)) {
    text += `${asLine(areIdentified && row.type === 'session' ? identified(row) : row)}\n`
    if (text.length < 1_000_000) continue
    if (!file.write(text)) await once(file, 'drain')
    text = ''
  }
  file.end(text)
  await once(file, 'finish')
}

/** Every session line has identifiers. */
function identified(row: IncomingRow): IncomingRow {
  const userId = row.subjectId.replace('visitor-', '')
  return { ...row, identifiers: { email: `${userId}@shop.example`, userId } }
}

/** A row as a line of a file. */
export function asLine(row: IncomingRow): string {
  return JSON.stringify(
    row.type === 'event'
      ? { ...row, occurredAt: formatInstant(row.occurredAt) }
      : { ...row, startedAt: formatInstant(row.startedAt), endedAt: formatInstant(row.endedAt) },
  )
}

/** Runs `lethe import` in a separate process; returns its duration and peak memory. */
export async function importFile(
  file: string,
  env: Record<string, string>,
): Promise<{ seconds: number; megabytes: number }> {
  const from = performance.now()
  const child = spawn(process.execPath, [join(root, lethe), 'import', file, '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let megabytes = 0
  const watch = setInterval(() => {
    megabytes = residentMegabytes(child.pid ?? 0, 'VmHWM') ?? megabytes
  }, 100)
  const [code] = await once(child, 'exit')
  clearInterval(watch)
  if (code !== 0) throw new Error(`lethe import ended with ${code}`)
  return { seconds: (performance.now() - from) / 1_000, megabytes }
}
