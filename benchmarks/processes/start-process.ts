import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Lifetime } from '../lifetime.ts'
import { lethe, root } from './root.ts'

export interface RunningProcess {
  url: string
  pid: number
  /** From the spawn to the first response. */
  startMs: number
  stop(): Promise<void>
}

/** Receives every line of a process's output. */
type Listener = (line: string) => void

/**
 * Starts one of our programs in a separate process, on a free port; resolves when it responds. Its output is
 * discarded unless there is a listener, because reading thousands of log lines per second takes processor
 * time from the measurement.
 */
export async function startProcess(
  lifetime: Lifetime,
  script: string,
  args: string[],
  env: Record<string, string>,
  listen?: Listener,
): Promise<RunningProcess> {
  const port = await freePort()
  const from = performance.now()
  const child = spawn(process.execPath, [resolve(root, script), ...args], {
    env: { ...process.env, ...env, LETHE_PORT: String(port) },
    stdio: ['ignore', listen ? 'pipe' : 'ignore', 'inherit'],
  })
  lifetime.after(stop)
  if (child.stdout && listen) createInterface(child.stdout).on('line', listen)
  const url = `http://127.0.0.1:${port}`
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`${script} ended before it answered`)
    await delay(2)
  }
  const startMs = performance.now() - from

  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill()
    await gone
  }
  return {
    url,
    pid: child.pid ?? 0,
    startMs,
    stop,
  }
}

/** Starts `lethe serve`, as its users do. */
export function startLethe(
  lifetime: Lifetime,
  env: Record<string, string>,
  listen?: Listener,
): Promise<RunningProcess> {
  return startProcess(lifetime, lethe, ['serve', '--json'], env, listen)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(`${url}/healthz`)).arrayBuffer()
    return true
  } catch {
    return false
  }
}
