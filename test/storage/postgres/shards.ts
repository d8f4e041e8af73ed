import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { type Statement, statements } from '../../../src/storage/nouns/statement.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { always } from '../../support/rows.ts'

/** From the sixth on PostgreSQL may plan a prepared statement once and for all. */
const plannings = 6
const refusal = 'could not create distributed plan'

/** How many shards of a store that is spread over a cluster a statement is about. */
export function shardTests(addressOf: () => string): void {
  describe('a statement', () => {
    const lifetime = inReverse({ after })
    let client: Client
    /** The types of what each statement takes. */
    const types = new Map<string, string[]>()
    before(async () => {
      const address = addressOf()
      await makeEveryStatement(address)
      client = new Client(address)
      await client.connect()
      lifetime.after(() => client.end())
      const texts = new Map(statements().map(({ name, text }) => [name, text]))
      for (const [name, text] of texts) await client.query(`PREPARE ${name} AS ${text}`)
      const { rows } = await client.query(
        'SELECT name, parameter_types::text[] AS types FROM pg_prepared_statements',
      )
      for (const row of rows) types.set(row.name, row.types)
    })

    /** The most tasks that a statement is, planned so many times in one go. */
    async function tasks({ name, shards }: Statement, times = 1): Promise<number> {
      const planning = Array.from({ length: times }, () => {
        const keys = shards === 'colocated' ? 1 : severalKeys
        const values = (types.get(name) ?? assert.fail(name)).map((type) => example(type, keys)).join(', ')
        return `EXPLAIN EXECUTE ${name}${values && `(${values})`}`
      })
      const plan = [await client.query(planning.join('; '))].flat().flatMap(({ rows }) => rows)
      const counts = plan.map((row) => /Task Count: (\d+)/.exec(row['QUERY PLAN'])?.[1] ?? '0')
      return Math.max(...counts.map(Number))
    }

    const those = (shards: Statement['shards']) => statements().filter((each) => each.shards === shards)

    it('that names one subject, or none, is one task, however often it is planned', async () => {
      for (const statement of those('one')) {
        assert.ok((await tasks(statement, plannings)) <= 1, statement.text)
      }
    })

    it('that names subjects of one shard is one task, however often it is planned', async () => {
      assert.ok(those('colocated').length > 0)
      for (const statement of those('colocated')) {
        assert.equal(await tasks(statement, plannings), 1, statement.text)
      }
    })

    it('that names one subject, or none, is one task with a generic plan, where Citus can make one', async () => {
      await client.query('SET plan_cache_mode = force_generic_plan')
      let planned = 0
      for (const statement of those('one')) {
        const count = await tasks(statement).catch(({ message }) => message)
        if (count === refusal) continue
        assert.ok(count <= 1, statement.text)
        planned += 1
      }
      assert.ok(planned > 0)
    })

    it('says otherwise that it is about more than one, and can be planned', async () => {
      await client.query('SET plan_cache_mode = auto')
      const counts: number[] = []
      for (const statement of those('any')) counts.push(await tasks(statement))
      assert.ok(Math.max(...counts) > 1, 'more than one shard is there')
    })
  })
}

/** Those that files make when they are loaded, and those that are made as they are needed. */
async function makeEveryStatement(address: string): Promise<void> {
  for (const part of ['postgres', 'nouns']) {
    const folder = new URL(`../../../src/storage/${part}/`, import.meta.url)
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.ts'))) {
      await import(`../../../src/storage/${part}/${file.slice(0, -3)}.ts`)
    }
  }
  const store = await openPostgresStore(address)
  const view = { organisationId: 'acme', trackerId: 'shop', since: always }
  const none = { limit: 1, after: null, subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore: null }
  for (const sort of ['subjectId', 'lastSeenAt', '-lastSeenAt'] as const) {
    await store.subjects.list(view, { ...none, sort })
  }
  for (const table of store.transfer.tables) {
    await store.transfer.count(table)
    await store.transfer.read(table, null, 1)
  }
  await store.close()
}

/** So many that several shards are likely. */
const severalKeys = 40

/** A value of a type; in an array as many different ones. */
function example(type: string, keys: number): string {
  if (type.endsWith('[]')) {
    return `ARRAY[${Array.from({ length: keys }, () => example(type.slice(0, -2), keys)).join(', ')}]::${type}`
  }
  if (type === 'uuid') return `'${randomUUID()}'`
  if (type === 'json') return `'[[1, 1, "waiting", "shop", "anna"]]'`
  return type === 'text' ? `'example'` : type === 'boolean' ? 'true' : '1'
}
