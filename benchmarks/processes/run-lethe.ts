import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { lethe, root } from './root.ts'

/** Runs a command on a store; returns how long it took. */
export async function runLethe(env: Record<string, string>, ...args: string[]): Promise<number> {
  const from = performance.now()
  const child = spawn(process.execPath, [join(root, lethe), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`lethe ${args[0]} ended with ${code}`)
  return performance.now() - from
}
