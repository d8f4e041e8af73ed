import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import type { Lifetime } from '../lifetime.ts'
import { asLine } from './import-file.ts'
import { lethe, root } from './root.ts'

const pauseMs = 50

/** Runs `lethe import -` in a separate process and feeds it at a steady pace until it is stopped. */
export function startEndlessImport(
  lifetime: Lifetime,
  env: Record<string, string>,
  next: () => IncomingRow,
  linesPerSecond: number,
): { stop(): Promise<{ lines: number }> } {
  const child = spawn(process.execPath, [join(root, lethe), 'import', '-', '--json'], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  lifetime.after(() => void child.kill())
  const gone = once(child, 'exit')
  const startedAt = performance.now()
  let isStopped = false
  let lines = 0
  async function feed(): Promise<void> {
    while (!isStopped) {
      const due = ((performance.now() - startedAt) / 1_000) * linesPerSecond
      let text = ''
      for (; lines < due; lines++) text += `${asLine(next())}\n`
      if (!child.stdin.write(text)) await once(child.stdin, 'drain')
      await delay(pauseMs)
    }
    child.stdin.end()
  }
  const feeding = feed()
  return {
    async stop() {
      isStopped = true
      await feeding
      const [code] = await gone
      if (code !== 0) throw new Error(`lethe import ended with ${code}`)
      return { lines }
    },
  }
}
