import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { addressOf, allAddresses, type Load, type LoadGenerator, type LoadResult } from './load.ts'

const execute = promisify(execFile)
const script = join(import.meta.dirname, 'wrk.lua')

/** Load from wrk, on one thread. wrk supports whole seconds only. */
export function wrkLoad(): LoadGenerator {
  return { name: 'wrk', run }
}

async function run({ url, method, headers, paths, connections, seconds }: Load): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'lethe-wrk-'))
  try {
    const file = join(folder, 'requests')
    const count = Math.max(paths.length, allAddresses().length)
    const line = (_: unknown, number: number) =>
      `${method} ${paths[number % paths.length]} ${addressOf(number)}\n`
    writeFileSync(file, Array.from({ length: count }, line).join(''))
    const named = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
    const duration = `${Math.max(1, Math.round(seconds))}s`
    const options = ['-t1', '--timeout', '20s', `-c${connections}`, '-d', duration, '-s', script, ...named]
    const { stdout } = await execute('wrk', [...options, url, '--', file])
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
