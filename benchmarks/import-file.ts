import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IncomingRow } from '../src/domain/ingest.ts'
import { formatInstant } from '../src/domain/instant.ts'
import { root } from './support.ts'
import { type LineOrder, visits } from './visits.ts'

/** Writes so many lines of visits. */
export async function writeFile(path: string, lines: number, order: LineOrder): Promise<void> {
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

/** Runs `lethe import` as a process of its own; tells how long it took and the most memory it had. */
export async function importFile(
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
