import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { Client } from 'pg'
import { openStoreAt } from '../../support/empty-store.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { until } from '../../support/until.ts'

const lifetime = inReverse({ after })

/** Tables whose rows lead to no person, in a subject or among the members. */
const others = [
  ...['api_keys', 'approval_rules', 'daily_events', 'daily_sessions', 'identifier_names', 'key_days'],
  ...['ledger_entries', 'lethe_migrations', 'organisation_logos', 'organisation_profiles', 'organisations'],
  ...['refused_lines', 'reply_texts', 'retention_windows', 'scrubs', 'secrets', 'sign_in_rules', 'sweeps'],
  ...['trackers', 'variable_tokens'],
]

it('a scrub on PostgreSQL frees deleted rows of every table about people', async () => {
  const address = await freshStore(lifetime)
  const store = await openStoreAt(address)
  lifetime.after(() => store.close())
  const client = new Client(address)
  await client.connect()
  lifetime.after(() => client.end())
  await store.maintenance.scrub(1)
  const namesWhere = async (condition: string) =>
    (
      await client.query(`SELECT relname FROM pg_stat_user_tables WHERE ${condition} ORDER BY relname`)
    ).rows.map(({ relname }) => String(relname))
  const expected = (await namesWhere('true')).filter((name) => !others.includes(name))
  // Older servers count with a delay.
  await until(async () => (await namesWhere('vacuum_count > 0')).length >= expected.length, 5_000).catch(
    () => {},
  )
  assert.deepEqual(await namesWhere('vacuum_count > 0'), expected)
})
