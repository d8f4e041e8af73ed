import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../src/config.ts'
import type { IncomingEvent, IncomingRow } from '../src/domain/ingest.ts'
import type { Plan } from '../src/domain/plan.ts'
import { allScopes } from '../src/domain/scope.ts'
import { createKey } from '../src/operations/create-key.ts'
import { createOrganisation } from '../src/operations/create-organisation.ts'
import { createTracker } from '../src/operations/create-tracker.ts'
import { openWorkplace, type Workplace } from '../src/workplace.ts'
import { tracker } from './visits.ts'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** A store that was filled for a benchmark. */
export interface FilledStore {
  env: Record<string, string>
  path: string
  key: string
  subjectPath(number: number): string
  listPath: string
}

const batchSize = 20_000

/** A folder that goes with this process. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lethe-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface EmptyStore {
  folder: string
  path: string
  env: Record<string, string>
}

/** A new store with one tracker, in a temporary folder unless another address is given, and budgets out of the way. */
export async function emptyStore(plan: Plan = 'free', address?: string): Promise<EmptyStore> {
  const folder = temporaryFolder()
  const path = join(folder, 'lethe.db')
  const env = {
    LETHE_STORE: address ?? `sqlite:${path}`,
    LETHE_LIMIT_IP: '999999999/minute',
    LETHE_LIMIT_KEY: '999999999/minute',
    LETHE_LIMIT_ERASURE: '999999999/hour',
  }
  const workplace = await openWorkplace(readConfig(env))
  await createOrganisation(workplace, { name: 'Bench', id: 'bench', plan })
  await createTracker(workplace, { organisationId: 'bench', name: 'Bench', id: tracker })
  await workplace.close()
  return { folder, path, env }
}

/** Fills a store with subjects of `eventsEach` events, and makes a key. */
export async function fillStore(
  subjects: number,
  eventsEach: number,
  plan?: Plan,
  address?: string,
): Promise<FilledStore> {
  const { env, path } = await emptyStore(plan, address)
  const workplace = await openWorkplace(readConfig(env))
  let batch: IncomingRow[] = []
  for (let subject = 0; subject < subjects; subject++) {
    for (let event = 0; event < eventsEach; event++) batch.push(eventOf(subject, event))
    if (batch.length >= batchSize || subject === subjects - 1) {
      await workplace.ingest.ingest(batch)
      batch = []
    }
  }
  const { keyString } = await createKey(workplace, {
    organisationId: 'bench',
    name: 'bench',
    scopes: allScopes(),
    expiresAt: null,
  })
  await workplace.close()
  const listPath = `/v1/analytics/trackers/${tracker}/subjects`
  return { env, path, key: keyString, listPath, subjectPath: (number) => `${listPath}/${subjectId(number)}` }
}

/** Adds one subject with many events, a hundred to a session. */
export async function addSubject(workplace: Workplace, subjectId: string, events: number): Promise<void> {
  const firstAt = Date.now() - 100 * 86_400_000
  for (let next = 0; next < events; next += batchSize) {
    const batch: IncomingRow[] = []
    for (let event = next; event < Math.min(next + batchSize, events); event++) {
      const visit = Math.floor(event / 100)
      const occurredAt = firstAt + event * 5_000
      batch.push({ ...eventOf(0, event), subjectId, sessionId: `session-${visit}`, occurredAt })
    }
    await workplace.ingest.ingest(batch)
  }
}

function subjectId(number: number): string {
  return `visitor-${number.toString().padStart(8, '0')}`
}

/** How far back the events reach. */
export const daysBack = 170
const eventsPerSession = 4

/** Visits spread over half a year, so that no order of insertion is the order of time. */
function eventOf(subject: number, event: number): IncomingEvent {
  const visit = Math.floor(event / eventsPerSession)
  const startedAt = Date.now() - ((subject * 7_919 + visit * 1_047_290) % (daysBack * 86_400)) * 1_000
  return {
    type: 'event',
    trackerId: tracker,
    subjectId: subjectId(subject),
    sessionId: `session-${visit}`,
    eventId: `event-${event}`,
    name: 'pageview',
    occurredAt: startedAt + (event % eventsPerSession) * 30_000,
    properties: { url: `https://shop.example/products/${event}`, title: 'A page of the shop' },
  }
}

export interface RunningProcess {
  url: string
  /** Waits for a line of its output that matches, from now on. */
  line(pattern: RegExp): Promise<string>
  stop(): void
}

/** Starts a program of ours in a process of its own; resolves once it answers. */
export async function startProcess(
  script: string,
  args: string[],
  env: Record<string, string>,
): Promise<RunningProcess> {
  const port = await freePort()
  const child = spawn(process.execPath, [join(root, script), ...args], {
    env: { ...process.env, ...env, LETHE_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.on('exit', () => child.kill())
  const lines = createInterface(child.stdout)
  const url = `http://127.0.0.1:${port}`
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`${script} ended before it answered`)
    await setTimeout(20)
  }
  return {
    url,
    line: (pattern) =>
      new Promise((resolve) => {
        lines.on('line', function look(line) {
          if (!pattern.test(line)) return
          lines.off('line', look)
          resolve(line)
        })
      }),
    stop: () => child.kill(),
  }
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
    await fetch(`${url}/healthz`)
    return true
  } catch {
    return false
  }
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
