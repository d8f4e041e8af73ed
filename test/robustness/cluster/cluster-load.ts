import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { type CommandLine, onlyJson, textOf } from '../../support/command-line.ts'
import { anHourAgo, subjectPath, subjectsPath } from '../../support/shop.ts'

/** The answers to one kind of request: the count of each status, and the slowest time. */
interface Answers {
  statuses: Map<number, number>
  slowestMs: number
}

export interface ClusterLoad {
  /** Subjects whose erasure was acknowledged. */
  erased: string[]
  /** Subjects whose data was accepted. */
  stored: string[]
  kinds: Record<'read' | 'erase' | 'store' | 'list', Answers>
  /** Resets the answers, but not what was acknowledged. */
  forget(): void
  stop(): Promise<void>
}

/** Creates a key for everything that a load requests. */
export async function createLoadKey(cli: CommandLine): Promise<string> {
  const scopes = ['analytics:view', 'analytics:delete-data', 'analytics:collect']
  const create = ['keys', 'create', '--org', 'acme', '--name', 'all', '--json', '--scope', ...scopes]
  return textOf(onlyJson(await cli.run(create)), 'key')
}

/** The status of reading a subject. Rejects if there is no response. */
export async function readStatus(address: string, key: string, id: string): Promise<number> {
  const response = await fetch(address + subjectPath(id), { headers: { authorization: `Bearer ${key}` } })
  await response.arrayBuffer()
  return response.status
}

const batchPath = '/v1/ingest/trackers/shop/batches'

/** Reads, lists, stores and erases until it is stopped. A request without a response counts as status 0. */
export function startLoad(
  address: () => string,
  key: string,
  doomed: string[],
  kept: readonly string[],
): ClusterLoad {
  const answers = (): Answers => ({ statuses: new Map(), slowestMs: 0 })
  const load = {
    erased: [] as string[],
    stored: [] as string[],
    kinds: { read: answers(), erase: answers(), store: answers(), list: answers() },
  }
  let isOver = false

  async function ask(kind: keyof typeof load.kinds, path: string, init: RequestInit = {}): Promise<number> {
    const from = performance.now()
    const status = await fetch(address() + path, {
      ...init,
      headers: { authorization: `Bearer ${key}`, ...init.headers },
    }).then(
      async (response) => {
        const text = await response.text()
        if (response.status === 500) assert.match(text, /^\{"error":\{"code":"internal_error"/)
        return response.status
      },
      () => 0,
    )
    const own = load.kinds[kind]
    own.slowestMs = Math.max(own.slowestMs, performance.now() - from)
    own.statuses.set(status, (own.statuses.get(status) ?? 0) + 1)
    if (status !== 200) await delay(20)
    return status
  }
  async function erase(): Promise<void> {
    for (let id = doomed.shift(); id !== undefined && !isOver; id = doomed.shift()) {
      if ((await ask('erase', subjectPath(id), { method: 'DELETE' })) === 200) load.erased.push(id)
      else doomed.push(id)
      await delay(5)
    }
  }
  async function store(): Promise<void> {
    for (let number = 0; !isOver; number++) {
      const subjectIds = Array.from({ length: 5 }, (_, i) => `stored-${number}-${i}`)
      const occurredAt = new Date(anHourAgo).toISOString()
      const lines = subjectIds.map((subjectId) =>
        JSON.stringify({ type: 'event', subjectId, sessionId: 's', eventId: 'e', name: 'view', occurredAt }),
      )
      const headers = { 'content-type': 'application/x-ndjson' }
      if ((await ask('store', batchPath, { method: 'POST', headers, body: lines.join('\n') })) === 200)
        load.stored.push(...subjectIds)
      await delay(20)
    }
  }
  async function repeat(kind: 'read' | 'list', path: () => string): Promise<void> {
    while (!isOver) {
      await ask(kind, path())
      await delay(5)
    }
  }
  const some = () => subjectPath(kept[Math.floor(Math.random() * kept.length)] ?? '')
  const running = Promise.all([
    erase(),
    store(),
    repeat('read', some),
    repeat('list', () => `${subjectsPath}?limit=50`),
  ])
  return {
    ...load,
    forget() {
      for (const own of Object.values(load.kinds)) {
        own.statuses.clear()
        own.slowestMs = 0
      }
    },
    async stop() {
      isOver = true
      await running
    },
  }
}

export function summary({ kinds }: ClusterLoad): string {
  return Object.entries(kinds)
    .map(
      ([kind, { statuses, slowestMs }]) =>
        `${kind} ${JSON.stringify([...statuses])}, slowest ${Math.round(slowestMs)} ms`,
    )
    .join('; ')
}
