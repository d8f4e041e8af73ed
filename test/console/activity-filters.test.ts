import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { formatInstant } from '../../src/domain/instant.ts'
import { toCsvLine } from '../../src/operations/activity.ts'
import { createKey } from '../../src/operations/api-key.ts'
import { dataOf, isObject, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const { organisationId, key, keyId } = shop
const client = await openConsole(shop, organisationId, 'ada@acme.example')
const formula = '=HYPERLINK("https://evil.example")'
await createKey(shop.services, {
  ...{ organisationId, name: formula, scopes: ['analytics:view'], expiresAt: null },
})
await shop.ingest([...visit('anna'), ...visit('ben')])
await shop.ask(subjectPath('anna'), { key, method: 'DELETE' })
const headers = { 'x-request-id': 'a; =1+1;@b;-c' }
await shop.ask(subjectPath('ben'), { key, method: 'DELETE', headers })

async function kinds(query: string): Promise<unknown[]> {
  const entries = listIn(dataOf(await client.ask(`/activity?limit=200&${query}`)), 'entries')
  return entries.filter(isObject).map(({ kind }) => kind)
}

async function exported(query: string): Promise<{ type: string | null; name: string | null; text: string }> {
  const response = await fetch(`${shop.url}/console/api/activity/export?${query}`, {
    headers: { cookie: client.cookie ?? '' },
  })
  assert.equal(response.status, 200)
  const { headers } = response
  return {
    type: headers.get('content-type'),
    name: headers.get('content-disposition'),
    text: await response.text(),
  }
}

describe('the activity of an organisation', () => {
  test('is filtered by kind, member, key and command line', async () => {
    assert.deepEqual(await kinds('kind=subject.erased'), ['subject.erased', 'subject.erased'])
    assert.deepEqual(await kinds(`actor=${keyId}`), ['subject.erased', 'subject.erased'])
    assert.deepEqual(await kinds(`actor=${client.member.id}`), [])
    assert.deepEqual(await kinds('actor=command-line&kind=key.created'), ['key.created', 'key.created'])
  })

  test('is filtered by time, from the first inclusive to the last exclusive', async () => {
    const entries = listIn(dataOf(await client.ask(`/activity?actor=${keyId}`)), 'entries').filter(isObject)
    const [last, first] = entries.map((entry) => textIn(entry, 'at'))
    assert.ok(first && last && first < last)
    assert.equal((await kinds(`actor=${keyId}&since=${first}`)).length, 2)
    assert.equal((await kinds(`actor=${keyId}&since=${first}&until=${last}`)).length, 1)
    assert.deepEqual(await kinds(`until=${formatInstant(0)}`), [])
  })

  test('accepts a cursor only with the same filters', async () => {
    const page = dataOf(await client.ask('/activity?kind=subject.erased&limit=1'))
    const cursor = textIn(page, 'nextCursor')
    const next = dataOf(await client.ask(`/activity?kind=subject.erased&limit=1&cursor=${cursor}`))
    assert.equal(next.nextCursor, null)
    assert.deepEqual(problemFields(await client.ask(`/activity?limit=1&cursor=${cursor}`)), ['cursor'])
  })

  test('refuses an invalid kind or time', async () => {
    const query = 'kind=nothing&since=yesterday&until=2026-11-17'
    assert.deepEqual(problemFields(await client.ask(`/activity?${query}`)), ['kind', 'since', 'until'])
  })

  test('is exported completely as JSON, newest first', async () => {
    const { type, name, text } = await exported('format=json')
    assert.equal(type, 'application/json; charset=utf-8')
    assert.equal(name, 'attachment; filename="lethe-activity.json"')
    const entries = listIn(JSON.parse(text), 'entries').filter(isObject)
    // A list also has the request of each entry.
    const listed = listIn(dataOf(await client.ask('/activity?limit=200')), 'entries')
    assert.deepEqual(
      entries.map((entry) => ({ ...entry, request: null })),
      listed,
    )
  })

  test('includes its own exports, also in the exported file', async () => {
    const { text } = await exported('format=json')
    const [newest] = listIn(JSON.parse(text), 'entries')
    assert.partialDeepStrictEqual(newest, { kind: 'activity.exported', target: 'JSON' })
    await exported('format=csv&kind=key.created')
    const [entry] = listIn(dataOf(await client.ask('/activity')), 'entries')
    const actor = { kind: 'member', id: client.member.id, name: client.member.email }
    assert.partialDeepStrictEqual(entry, { kind: 'activity.exported', target: 'CSV', actor })
  })

  test('is exported as CSV without formulas', async () => {
    const { type, text } = await exported('format=csv&kind=key.created')
    assert.equal(type, 'text/csv; charset=utf-8')
    const [header, row, ...others] = text.split('\r\n')
    assert.match(header ?? '', /^at,kind,actorKind,/)
    assert.match(row ?? '', /,"'=HYPERLINK\(""https:\/\/evil\.example""\)",/)
    assert.deepEqual(others.length, 2)
    assert.doesNotMatch(text, /(^|[,\n])=/)
    // A spreadsheet with semicolons as separators splits there, even inside quotes.
    const { text: erasures } = await exported('format=csv&kind=subject.erased')
    assert.ok(erasures.includes(`,"a; '=1+1;'@b;'-c"\r\n`), erasures)
    const empty = await exported(`format=csv&until=${formatInstant(0)}`)
    assert.equal(empty.text.split('\r\n').length, 2)
  })
})

describe('a field of the CSV', () => {
  const cases: [name: string, field: string][] = [
    ['plain', 'plain'],
    ['1-2', '1-2'],
    ['a;b', '"a;b"'],
    ['=1', `"'=1"`],
    ['  @a', `"  '@a"`],
    ['\uff1d1', `"'\uff1d1"`],
    ['a;=1', `"a;'=1"`],
    ['a;;-1', `"a;;'-1"`],
    ['a\t+1', `"a\t'+1"`],
    ['a; \t\u00a0=1', `"a; \t\u00a0'=1"`],
    ['a\n=1', `"a\n'=1"`],
    ['a\r\n@1', `"a\r\n'@1"`],
    ['=1;=2', `"'=1;'=2"`],
  ]
  for (const [name, field] of cases) {
    test(`is not a formula, wherever a spreadsheet splits it: ${JSON.stringify(name)}`, () => {
      const actor = { kind: 'member', id: 'mem_1', name } as const
      const entry = { id: 'a', organisationId, at: 0, actor, kind: 'key.created', target: null } as const
      const line = toCsvLine({ ...entry, counts: null, ledgerIndex: null, requestId: null })
      assert.equal(line, `${formatInstant(0)},key.created,member,mem_1,${field},,,,,\r\n`)
    })
  }
})

describe('the state of the ledger', () => {
  test('shows its size, root hash and last entry, and is recomputed on request', async () => {
    const ledger = dataOf(await client.ask('/ledger'))
    assert.equal(ledger.size, 2)
    assert.match(textIn(ledger, 'lastEntryAt'), /^2/)
    const verified = dataOf(await client.ask('/ledger/verify', { method: 'POST', body: {} }))
    assert.deepEqual(verified, { size: 2, rootHash: ledger.rootHash, problem: null })
    const stranger = await openConsole(shop, await shop.createOrganisation())
    const empty = objectIn((await stranger.ask('/ledger')).body, 'data')
    assert.deepEqual([empty.size, empty.lastEntryAt], [0, null])
  })
})

test('exports of one organisation run one at a time, without blocking others', async () => {
  const { promise: others, resolve: end } = Promise.withResolvers<void>()
  const job = shop.services.jobs.run(organisationId, () => others)
  let isMade = false
  const waiting = exported('format=json').finally(() => {
    isMade = true
  })
  const rival = await shop.createOrganisation()
  const theirs = await openConsole(shop, rival, 'eve@rival.example')
  assert.equal((await theirs.ask('/activity/export?format=json')).status, 200)
  assert.equal(isMade, false)
  end()
  await job
  assert.match((await waiting).text, /"entries"/)
})
