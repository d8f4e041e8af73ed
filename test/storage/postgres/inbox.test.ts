import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client, escapeLiteral, types } from 'pg'
import type { Engine } from '../../../src/storage/nouns/engine.ts'
import { privacyRequestStore } from '../../../src/storage/nouns/privacy-request.ts'
import { requestGroupStore } from '../../../src/storage/nouns/request-group.ts'
import { requestHandlingStore } from '../../../src/storage/nouns/request-handling.ts'
import type { Row } from '../../../src/storage/nouns/row.ts'
import {
  type NamedValues,
  type Statement,
  type Value,
  valuesOf,
} from '../../../src/storage/nouns/statement.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { isObject, listIn } from '../../support/answers.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'

const [alone, ofGroup, ofOthers] = [6_000, 2_000, 4_000]
const page = { limit: 50, after: null, state: 'pending', kind: null, dueBefore: null } as const

/** What a plan reads: the rows that its scans return and discard. */
interface Reads {
  rows: number
  /** The part that is read from a table, not only from an index. */
  tableRows: number
  /** Scans without an index, and sorts of more than the pages of a few ranges. */
  faults: string[]
}

describe('the inbox of 8,000 requests, beside those of another organisation, on PostgreSQL,', () => {
  const lifetime = inReverse({ after })
  let client: Client
  let reads: Reads = { rows: 0, tableRows: 0, faults: [] }

  before(async () => {
    const url = await freshStore(lifetime)
    const store = await openPostgresStore(url)
    for (const id of ['acme', 'other'])
      await store.organisations.create({ id, name: id, plan: 'free', createdAt: 1 })
    await store.close()
    const getTypeParser: typeof types.getTypeParser = (oid: number) =>
      oid === types.builtins.INT8 ? Number : types.getTypeParser(oid)
    client = new Client({ connectionString: url, types: { getTypeParser } })
    await client.connect()
    lifetime.after(() => client.end())
    await client.query(
      `INSERT INTO privacy_requests (organisation_id, id, kind, state, reference, received_at, due_at, person, names_identifiers,
         content_digest, created_at, creator_kind, found_subjects, found_sessions, found_events, erased_subjects, erased_sessions,
         erased_events, searches, held_identifiers, runs_at, list_line, shares_reference)
       SELECT CASE WHEN n < ${alone + ofGroup} THEN 'acme' ELSE 'other' END, 'r' || lpad(n::text, 6, '0'), CASE WHEN n % 5 = 0 THEN 'access' ELSE 'erasure' END, 'open',
         CASE WHEN n < ${ofGroup} THEN 'List' ELSE 'R-' || n END, n, 1000 + n, '{"identifiers":[],"subjects":[]}', 0, '', n,
         'command-line', 1, 1, 1, 0, 0, 0, 0, '[]', 0, 0, CASE WHEN n < ${ofGroup} THEN 1 ELSE 0 END
       FROM generate_series(0, ${alone + ofGroup + ofOthers - 1}) AS n`,
    )
    await client.query('VACUUM ANALYZE privacy_requests')
    // The same settings as for reading in connections.ts.
    await client.query('SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off')
    await client.query('SET enable_bitmapscan = off; SET enable_sort = off')
  })

  /** Runs a statement and adds what it reads to `reads`. */
  async function explain(statement: Statement, parameters: NamedValues): Promise<Row[]> {
    const values = valuesOf(statement, parameters, toLiteral)
    await client.query(`PREPARE looked AS ${statement.text}`)
    const call = `EXECUTE looked${values.length > 0 ? `(${values.join(', ')})` : ''}`
    const explained = await client.query(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) ${call}`)
    const [plan] = listIn(explained.rows[0], 'QUERY PLAN')
    addReads(isObject(plan) ? plan.Plan : null, reads)
    const { rows } = await client.query(call)
    await client.query('DEALLOCATE looked')
    return rows
  }

  /** Runs statements one after the other. */
  let last: Promise<unknown> = Promise.resolve()
  const engine: Engine<never> = {
    read(statement, parameters = {}) {
      const rows = last.then(() => explain(statement, parameters))
      last = rows.catch(() => {})
      return rows
    },
    readCredential: () => assert.fail(),
    readLong: () => assert.fail(),
    cacheUntilWrite: () => assert.fail(),
    transact: () => assert.fail(),
    revoke: () => assert.fail(),
  }

  async function readsOf(work: () => Promise<unknown>): Promise<Reads> {
    reads = { rows: 0, tableRows: 0, faults: [] }
    await work()
    return reads
  }

  it('reads little more than it lists, at any page and for any group size', async () => {
    const { list } = privacyRequestStore(engine)
    let after: { dueAt: number; id: string } | null = null
    for (const from of [null, 4_000]) {
      if (from !== null) after = { dueAt: 1_000 + from, id: '' }
      for (const isLatestFirst of [false, true]) {
        const query = { ...page, after, isLatestFirst, isGrouped: true }
        const { rows, faults } = await readsOf(async () => {
          const listed = await list('acme', query)
          assert.equal(listed.rows.length, 50)
        })
        assert.deepEqual(faults, [])
        assert.ok(rows < 600, `${rows} rows were read`)
      }
    }
  })

  it('reads a page of a group or an assignee by an index', async () => {
    const { list } = privacyRequestStore(engine)
    for (const state of ['pending', 'open'] as const) {
      for (const filter of [{ reference: 'List' }, { assigneeId: null }]) {
        const { rows, faults } = await readsOf(() => list('acme', { ...page, state, ...filter }))
        assert.deepEqual(faults, [])
        assert.ok(rows < 300, `${rows} rows were read`)
      }
    }
  })

  it('sums a group and counts open requests in indexes only', async () => {
    const groups = requestGroupStore(engine)
    const summed = await readsOf(async () => {
      assert.equal((await groups.find('acme', 'List'))?.counts.open, ofGroup)
    })
    assert.deepEqual(summed, { rows: ofGroup, tableRows: 0, faults: [] })
    const sized = await readsOf(() => groups.sizes('acme', 'List', ['open', 'running']))
    assert.deepEqual(sized, { rows: ofGroup, tableRows: 0, faults: [] })
    const counted = await readsOf(() => requestHandlingStore(engine).countOpen('acme', 'mem_1', 0, 1))
    assert.deepEqual(counted, { rows: alone + ofGroup, tableRows: 0, faults: [] })
  })
})

function addReads(step: unknown, reads: Reads): void {
  if (!isObject(step)) return
  const type = String(step['Node Type'])
  const loops = Number(step['Actual Loops'])
  if (/Index/.test(type)) {
    const discarded = Number(step['Rows Removed by Filter'] ?? 0)
    const rows = (Number(step['Actual Rows']) + discarded) * loops
    reads.rows += rows
    if (!/Only/.test(type)) reads.tableRows += rows
  }
  if (/^(Seq Scan|Bitmap)/.test(type)) reads.faults.push(type)
  if (/Sort$/.test(type)) {
    const [sorted] = listIn(step, 'Plans')
    if (!isObject(sorted) || Number(sorted['Actual Rows']) > 300) reads.faults.push(type)
  }
  for (const each of Array.isArray(step.Plans) ? step.Plans : []) addReads(each, reads)
}

function toLiteral(value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return escapeLiteral(value)
  if (Array.isArray(value)) return escapeLiteral(`{${value.map((each) => `"${each}"`).join(',')}}`)
  return String(value)
}
