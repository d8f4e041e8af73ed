import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { type Statement, statements } from '../../../src/storage/nouns/statement.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { always } from '../../support/rows.ts'

/** PostgreSQL may use a generic plan from the sixth execution of a prepared statement. */
const plannings = 6
const refusal = 'could not create distributed plan'

/** Checks how many shards of a distributed store each statement uses. */
export function shardTests(addressOf: () => string): void {
  describe('a statement', () => {
    const lifetime = inReverse({ after })
    let client: Client
    /** The parameter types of each statement. */
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

    /** The largest number of tasks in the plans of a statement that is planned this many times in a row. */
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

    it('for one subject or none is one task, however often it is planned', async () => {
      for (const statement of those('one')) {
        assert.ok((await tasks(statement, plannings)) <= 1, statement.text)
      }
    })

    it('for subjects of one shard is one task, however often it is planned', async () => {
      assert.ok(those('colocated').length > 0)
      for (const statement of those('colocated')) {
        assert.equal(await tasks(statement, plannings), 1, statement.text)
      }
    })

    it('for one subject or none is one task with a generic plan, if Citus can make one', async () => {
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

    it('for several shards is declared as such, and can be planned', async () => {
      await client.query('SET plan_cache_mode = auto')
      const counts: number[] = []
      for (const statement of those('any')) counts.push(await tasks(statement))
      assert.ok(Math.max(...counts) > 1, 'more than one shard is there')
    })
  })
}

/** Makes every statement: those that modules make when they are loaded, and those made when needed. */
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

/** Enough for several shards to be likely. */
const severalKeys = 40

/** A value of a type; an array holds this many different values. */
function example(type: string, keys: number): string {
  if (type.endsWith('[]')) {
    return `ARRAY[${Array.from({ length: keys }, () => example(type.slice(0, -2), keys)).join(', ')}]::${type}`
  }
  if (type === 'uuid') return `'${randomUUID()}'`
  if (type === 'json') return `'[[1, 1, "waiting", "shop", "anna"]]'`
  return type === 'text' ? `'example'` : type === 'boolean' ? 'true' : '1'
}
