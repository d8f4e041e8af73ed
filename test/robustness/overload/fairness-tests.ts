import assert from 'node:assert/strict'
import { it } from 'node:test'
import { commandLine } from '../../../src/domain/activity.ts'
import { startRequest } from '../../../src/operations/change-privacy-request.ts'
import { createRequest } from '../../../src/operations/create-privacy-request.ts'
import { dataOf, textIn } from '../../support/answers.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { type Shop, startShop, subjectPath, visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'

type Engine = 'SQLite' | 'PostgreSQL'

/** How long the requests of an organisation took. */
interface Times {
  reads: number[]
  erasures: number[]
}

const maxDelayMs = 1_000
const minRounds = 5
const scopes = ['analytics:view', 'analytics:delete-data', 'analytics:manage-requests'] as const

/**
 * Starts many requests of one organisation, and measures how long another one waits for reads and for a
 * request of its own.
 */
export function fairnessTest(
  engine: Engine,
  { requests, subjects }: { requests: number; subjects: number },
): void {
  it(`${requests} running requests of one organisation delay another by less than a second, on ${engine}`, async (t) => {
    const lifetime = inReverse(t)
    const store = engine === 'PostgreSQL' ? { LETHE_STORE: await freshStore(lifetime) } : {}
    const env = { LETHE_BATCH_PACE: '1000000/second', ...store }
    const busy = await startShop(lifetime, { env, scopes: ['analytics:view'], writesHere: false })
    const other = await addOrganisation(busy)
    const alone: Times = { reads: [], erasures: [] }
    for (let round = 0; round < minRounds; round++) await other.measure(alone)
    await run(busy, requests, subjects)
    const beside: Times = { reads: [], erasures: [] }
    let running = await countRunning(busy)
    const atStart = running
    while (running > 0) {
      await other.measure(beside)
      running = await countRunning(busy)
    }
    t.diagnostic(`${atStart} were running; alone ${told(alone)}; beside them ${told(beside)}`)
    assert.ok(beside.reads.length > 0 && atStart > requests / 4, `only ${atStart} were running`)
    for (const kind of ['reads', 'erasures'] as const) {
      // Work that is slow without them is slow because the machine is busy. One outlier is allowed.
      const bound = maxDelayMs + 5 * Math.max(...alone[kind])
      const slowest = beside[kind].toSorted((a, b) => b - a)
      assert.ok((slowest[1] ?? slowest[0] ?? 0) < bound, `${kind}: ${told(beside)}, alone ${told(alone)}`)
    }
  })
}

/** Another organisation on the same service. */
async function addOrganisation(shop: Shop) {
  const organisationId = await shop.createOrganisation()
  const trackerId = await shop.createTracker(organisationId)
  const { keyString: key } = await shop.createKey(organisationId, scopes)
  let number = 0
  const post = (path: string, body: object) =>
    shop.ask(path, {
      ...{ method: 'POST', key, body: JSON.stringify(body) },
      headers: { 'Content-Type': 'application/json' },
    })
  return {
    /** Reads a data subject, then erases it with a request. */
    async measure({ reads, erasures }: Times): Promise<void> {
      const subjectId = `carla-${number++}`
      await shop.ingest(visit(subjectId, { trackerId, events: 3 }))
      const readAt = performance.now()
      assert.equal((await shop.ask(subjectPath(subjectId, trackerId), { key })).status, 200)
      reads.push(performance.now() - readAt)
      const path = '/v1/analytics/requests'
      const person = { identifiers: [], subjects: [{ trackerId, subjectId }] }
      const startedAt = performance.now()
      const id = textIn(dataOf(await post(path, { kind: 'erasure', person })), 'requestId')
      // Answered when it is done, or after two seconds.
      const { state } = dataOf(await post(`${path}/${id}/erase`, {}))
      const isDone = async () => dataOf(await shop.ask(`${path}/${id}`, { key })).state === 'done'
      if (state !== 'done') await until(isDone)
      erasures.push(performance.now() - startedAt)
    },
  }
}

/** Starts requests of people with this many data subjects each. */
async function run(
  { services, organisationId, ingest }: Shop,
  requests: number,
  subjects: number,
): Promise<void> {
  const view = { organisationId, since: 0 }
  const ids: string[] = []
  for (let number = 0; number < requests; number++) {
    const email = `person-${number}@example.com`
    const names = Array.from({ length: subjects }, (_, i) => `person-${number}-${i}`)
    await ingest(names.flatMap((name) => visit(name, { events: 3, identifiers: { email } })))
    const person = { identifiers: [{ name: 'email', value: email }], subjects: [] }
    const wanted = { kind: 'erasure', person, receivedAt: null, reference: null, requestId: null } as const
    ids.push((await createRequest(services, view, wanted, commandLine)).id)
  }
  for (const id of ids) await startRequest(services, view, id, commandLine)
}

async function countRunning({ services, organisationId }: Shop): Promise<number> {
  const query = { limit: 1_000, after: null, state: 'running', kind: null, dueBefore: null } as const
  return (await services.privacyRequests.list(organisationId, query)).rows.length
}

function told(times: Times): string {
  const tell = (values: readonly number[]) => {
    const sorted = [...values].sort((a, b) => a - b)
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0
    return `${median.toFixed(0)} ms, at most ${(sorted.at(-1) ?? 0).toFixed(0)} ms`
  }
  return `a read takes ${tell(times.reads)}, a request until it is done ${tell(times.erasures)} (${times.reads.length} times)`
}
