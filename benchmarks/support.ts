import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../src/config.ts'
import type { IncomingRow } from '../src/domain/ingest.ts'
import { allScopes } from '../src/domain/scope.ts'
import { createKey } from '../src/operations/create-key.ts'
import { createOrganisation } from '../src/operations/create-organisation.ts'
import { createTracker } from '../src/operations/create-tracker.ts'
import { openWorkplace } from '../src/start.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A store that was filled for a benchmark. */
export interface FilledStore {
  env: Record<string, string>
  key: string
  subjectPath(number: number): string
  listPath: string
}

const tracker = 'bench'
const batchSize = 20_000

/** Fills a store in a temporary folder with subjects of `eventsEach` events in three sessions, and makes a key. */
export async function fillStore(subjects: number, eventsEach: number): Promise<FilledStore> {
  const folder = mkdtempSync(join(tmpdir(), 'lethe-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const env = {
    LETHE_STORE: `sqlite:${join(folder, 'lethe.db')}`,
    LETHE_LIMIT_IP: '999999999/minute',
    LETHE_LIMIT_KEY: '999999999/minute',
    LETHE_LIMIT_ERASURE: '999999999/hour',
  }
  const workplace = await openWorkplace(readConfig(env))
  await createOrganisation(workplace, { name: 'Bench', id: 'bench' })
  await createTracker(workplace, { organisationId: 'bench', name: 'Bench', id: tracker })
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
  return { env, key: keyString, listPath, subjectPath: (number) => `${listPath}/${subjectId(number)}` }
}

function subjectId(number: number): string {
  return `visitor-${number.toString().padStart(8, '0')}`
}

/** Spread over half a year, so that no order of insertion is the order of time. */
function eventOf(subject: number, event: number): IncomingRow {
  const occurredAt = Date.now() - ((subject * 7_919 + event * 104_729) % 15_000_000) * 1_000
  return {
    type: 'event',
    trackerId: tracker,
    subjectId: subjectId(subject),
    sessionId: `session-${event % 3}`,
    eventId: `event-${event}`,
    name: 'pageview',
    occurredAt,
    properties: { url: `https://shop.example/products/${event}`, title: 'A page of the shop' },
  }
}

/** Starts a program of ours in a process of its own, with its output to nowhere; resolves once it answers. */
export async function startProcess(
  script: string,
  args: string[],
  env: Record<string, string>,
): Promise<{ url: string; stop(): void }> {
  const port = await freePort()
  const child = spawn(process.execPath, [join(root, script), ...args], {
    env: { ...process.env, ...env, LETHE_PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  process.on('exit', () => child.kill())
  const url = `http://127.0.0.1:${port}`
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`${script} ended before it answered`)
    await setTimeout(20)
  }
  return { url, stop: () => child.kill() }
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
