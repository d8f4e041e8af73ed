import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Person } from '../../src/domain/person.ts'
import type { Store } from '../../src/domain/store.ts'
import { readPages } from '../../src/operations/verify-copy.ts'
import { ampleBudgets } from '../robustness/kill/server.ts'
import { buildShopAt } from '../robustness/kill/visits.ts'
import { commandLine, onlyJson, startServe, textOf } from '../support/command-line.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { freshStore } from '../support/fresh-database.ts'
import { eventRow } from '../support/rows.ts'
import { startTestService } from '../support/service.ts'
import { anHourAgo, visit } from '../support/shop.ts'
import { testKeyring, testKeys } from '../support/test-keyring.ts'
import { until } from '../support/until.ts'
import { fileIn, readZip } from '../support/zip.ts'
import { assertAbsent } from './markers.ts'

/** Everything that identifies the person in any form of a request, and what members write about them. */
const marks = {
  email: 'Ada.request-marker@example.com',
  userId: `user "request-marker" ünï/42`,
  shop: 'shop-request-marker 🦦',
  blog: 'blog/request-marker?#%2F',
  named: 'named-request-marker',
  note: 'note-request-marker: she called',
  attribute: 'attribute-request-marker',
}
const secrets: Record<string, string> = { ...marks, any: 'request-marker' }
const identifiers = [
  { name: 'email', value: marks.email },
  { name: 'userId', value: marks.userId },
]
const person: Person = { identifiers, subjects: [{ trackerId: 'shop', subjectId: marks.named }] }
const path = '/v1/analytics/requests'
const actor = { kind: 'member', id: 'mem_1', name: 'desk@acme.example' } as const

async function fill(store: Store): Promise<void> {
  await store.trackers.create({ id: 'blog', organisationId: 'acme', name: 'Blog', createdAt: 1 })
  const about = { identifiers: { email: marks.email }, attributes: { note: marks.attribute } }
  const rows = [
    ...visit(marks.shop, about),
    // Incompressible, and more than sockets buffer, so that an export can be interrupted.
    ...Array.from({ length: 1_000 }, (_, i) =>
      eventRow({
        ...{ subjectId: marks.shop, sessionId: 's1', eventId: `large-${i}`, occurredAt: anHourAgo },
        properties: { text: randomBytes(9_000).toString('base64') },
      }),
    ),
    ...visit(marks.blog, { ...about, trackerId: 'blog' }),
    ...visit('somebody-else', { identifiers: { email: 'bert@example.com' } }),
  ]
  await store.ingest.ingest(rows, testKeys)
}

/** Adds what members can add to an open request. */
async function handle({ requestHandling }: Store, id: string): Promise<void> {
  const ref = { organisationId: 'acme', id }
  const note = (kind: 'request.note-added' | 'request.record-excluded') =>
    ({
      id: randomUUID(),
      organisationId: 'acme',
      at: Date.now(),
      actor,
      kind,
      target: id,
      requestId: null,
    }) as const
  for (const text of [marks.note, `${marks.email}\n${marks.userId}`]) {
    const added = { id: randomUUID(), at: Date.now(), by: actor, text }
    assert.equal(await requestHandling.addNote(ref, added, note('request.note-added')), 'added')
  }
  const [digest] = testKeyring.tombstoneDigests('shop', marks.named)
  const excluded = { trackerId: 'shop', reason: 'Another person', at: Date.now(), by: actor }
  const outcome = await requestHandling.exclude(ref, excluded, [digest], note('request.record-excluded'))
  assert.equal(outcome, 'excluded')
}

/** Sends every kind of request about the person, including failing ones, and closes them in every way. */
async function useRequests(
  url: string,
  key: string,
  inStore: (work: (store: Store) => Promise<void>) => Promise<void>,
) {
  const ask = (
    to: string,
    { body, headers = {}, method = 'POST' }: { body?: unknown; headers?: object; method?: string } = {},
  ) =>
    fetch(`${url}${path}${to}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const said: string[] = []
  async function send(to: string, body: unknown = {}, headers = {}): Promise<Record<string, unknown>> {
    const response = await ask(to, { body, headers })
    const { data } = (await response.json()) as { data?: Record<string, unknown> }
    return data ?? {}
  }
  const marked = { 'x-request-id': marks.named }
  const create = async (kind: string) => {
    const { requestId } = await send('', { kind, person, reference: `Ticket ${kind}` }, marked)
    assert.ok(typeof requestId === 'string')
    await inStore((store) => handle(store, requestId))
    return requestId
  }
  const [done, access, rejected, cancelled] = [
    ...[await create('erasure'), await create('access'), await create('erasure'), await create('access')],
  ]
  // Failing requests.
  await send('', { kind: marks.email, person, reference: 'a'.repeat(300) }, marked)
  await send('', { kind: 'erasure', person: { ...person, name: marks.email } }, marked)
  await send('', { kind: 'erasure', person: marks.email })
  await send('', { kind: 'access', person, requestId: done })
  await send(`/${encodeURIComponent(marks.email)}/erase`, {}, marked)
  for (const query of [`state=${marks.named}`, `cursor=${marks.named}`])
    await ask(`?${query}`, { method: 'GET', headers: marked })
  // One complete export, and one interrupted export.
  const whole = await ask(`/${access}/export`, { method: 'GET', headers: marked })
  assert.ok(fileIn(readZip(Buffer.from(await whole.arrayBuffer())), 'index.html').includes(marks.email))
  const broken = await ask(`/${access}/export`, { method: 'GET', headers: { 'accept-encoding': 'identity' } })
  const reader = broken.body?.getReader() ?? assert.fail()
  assert.equal((await reader.read()).done, false)
  await reader.cancel()
  for (const to of ['extend', 'reject'] as const)
    await send(`/${rejected}/${to}`, { reason: 'Many systems' }, marked)
  await send(`/${cancelled}/cancel`, {}, marked)
  await send(`/${access}/close`, {}, marked)
  await send(`/${done}/erase`, {}, marked)
  await until(async () => {
    const { data } = (await (await ask(`/${done}`, { method: 'GET' })).json()) as { data: { state: string } }
    return data.state === 'done'
  })
  for (const [id, state] of [
    ...[
      [done, 'done'],
      [access, 'done'],
      [rejected, 'rejected'],
      [cancelled, 'cancelled'],
    ],
  ]) {
    const text = await (await ask(`/${id}`, { method: 'GET' })).text()
    assert.ok(text.includes(`"state":"${state}"`), text)
    said.push(text, await (await ask(`/${id}/certificate`, { method: 'GET' })).text())
  }
  said.push(await (await ask('', { method: 'GET' })).text())
  return said
}

describe('a person whose requests are closed', () => {
  it('is in no file of the store, nor in the journal, the log, the metrics, a backup or command output', async (t) => {
    const cli = commandLine(t)
    const temporary = join(cli.folder, 'temporary')
    mkdirSync(temporary)
    await buildShopAt(`sqlite:${cli.storePath}`, [], fill)
    const scopes = ['analytics:view', 'analytics:delete-data', 'analytics:manage-requests']
    const args = ['keys', 'create', '--org', 'acme', '--name', 'desk', '--json', '--scope', ...scopes]
    const key = textOf(onlyJson(await cli.run(args)), 'key')
    const env = {
      ...ampleBudgets,
      ...{ LETHE_JOURNAL: join(cli.folder, 'lethe.journal'), LETHE_LOG_LEVEL: 'trace' },
      ...{ LETHE_METRICS_PORT: '0', TMPDIR: temporary },
    }
    const server = await startServe(cli, env)
    const said: [where: string, text: string][] = []
    const inStore = async (work: (store: Store) => Promise<void>) => {
      const store = await openStoreAt(`sqlite:${cli.storePath}`, { writesHere: true })
      await work(store).finally(() => store.close())
    }
    for (const text of await useRequests(server.url, key, inStore)) said.push(['an answer', text])
    const [, metricsUrl = ''] = await server.waitFor('stdout', /"metricsUrl":"([^"]+)"/)
    said.push(['the metrics', await (await fetch(metricsUrl)).text()])
    server.kill('SIGTERM')
    const { stdout, stderr, code } = await server.ended
    assert.equal(code, 0)
    assert.match(stdout, /"hungUp":true/, 'an export broke off')
    said.push(['the log', stdout + stderr])
    for (const args of [
      ...[['scrub'], ['backup', join(cli.folder, 'new.backup')], ['ledger', 'verify', '--json']],
      ...[['activity', '--org', 'acme', '--json'], ['status']],
    ]) {
      const outcome = await cli.run(args, { env })
      assert.equal(outcome.code, 0, outcome.stderr)
      said.push([`lethe ${args[0]}`, outcome.stdout + outcome.stderr])
    }
    const files = readdirSync(cli.folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    assert.ok(files.some(({ name }) => name === 'lethe.journal'))
    for (const { parentPath, name } of files)
      assertAbsent(secrets, readFileSync(join(parentPath, name)), name)
    for (const [where, text] of said) assertAbsent(secrets, text, where)
  })

  it('is in no table of PostgreSQL', async (t) => {
    const address = await freshStore(t)
    await buildShopAt(address, [], fill)
    const service = await startTestService(t, { LETHE_STORE: address })
    const scopes = ['analytics:view', 'analytics:delete-data', 'analytics:manage-requests'] as const
    const { keyString } = await service.createKey('acme', scopes)
    const said = await useRequests(service.url, keyString, (work) => work(service.services))
    const { transfer } = service.services
    for (const table of transfer.tables) {
      for await (const page of readPages(transfer, table))
        assertAbsent(secrets, JSON.stringify(page), table.name)
    }
    for (const text of [...said, ...service.logged]) assertAbsent(secrets, text, 'an answer or the log')
  })
})
