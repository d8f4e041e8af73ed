import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import type { Store } from '../../src/domain/store.ts'
import { always, at, eventRow } from '../support/rows.ts'
import { eraseIn, testKeys } from '../support/test-keyring.ts'

const start = at('2026-06-01T00:00:00.000Z')
const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }

/** SQL that adds one subject to a store from before identifiers existed. `key` is its subject key. */
export function oldStoreSql(key: string): string[] {
  return [
    `INSERT INTO organisations (id, name, plan, created_at) VALUES ('acme', 'Acme', 'pro', 1)`,
    `INSERT INTO trackers (id, organisation_id, name, created_at) VALUES ('shop', 'acme', 'Shop', 1)`,
    `INSERT INTO subjects (tracker_id, subject_id, subject_key, first_seen_at, last_seen_at, oldest_at, session_count, event_count)
     VALUES ('shop', 'anna', ${key}, ${start}, ${start + 20}, ${start + 10}, 1, 1)`,
    `INSERT INTO sessions (subject_key, session_id, started_at, ended_at, event_count, attributes, attributes_at)
     VALUES (${key}, 's', ${start}, ${start + 20}, 1, '{"email":"ada@example.com"}', ${start + 20})`,
    `INSERT INTO events (subject_key, occurred_at, event_id, session_id, name, properties)
     VALUES (${key}, ${start + 10}, 'e', 's', 'login', '{"user_id":42}')`,
  ]
}

/** Fails unless an upgraded store has kept its data and finds people by their identifiers. */
export async function assertUpgraded(store: Store): Promise<void> {
  const found = async (name: string, value: string) => {
    const query = { sought: { identifier: { name, value } }, limit: 10, after: null }
    return (await store.search.subjects(tracker, query)).rows.map(({ subjectId }) => subjectId)
  }
  const record = await store.subjects.read(tracker, 'anna')
  assert.partialDeepStrictEqual(record, { counts: { sessions: 1, events: 1 }, identifiers: [] })
  assert.deepEqual(await found('email', 'ada@example.com'), [])
  // Derived from the stored rows, or imported with the same rows again.
  const source = { subjectId: 'anna', kind: 'session', sourceId: 's', broughtAt: start + 20 } as const
  const derived = { ...source, name: 'email', value: 'ada@example.com' }
  assert.deepEqual(await store.derivation.add(tracker, [derived]), { added: 1, renewed: 0 })
  const again = eventRow({ subjectId: 'anna', eventId: 'e', occurredAt: start + 10, sessionId: 's' })
  const counts = await store.ingest.ingest([{ ...again, identifiers: { userId: '42' } }], testKeys)
  assert.deepEqual(counts, { subjects: 0, sessions: 0, events: 0, unchanged: 1 })
  assert.deepEqual(await found('email', 'ADA@example.com'), ['anna'])
  assert.deepEqual(await found('userId', '42'), ['anna'])
  assert.deepEqual(await eraseIn(store, tracker, 'anna'), { sessions: 1, events: 1 })
  assert.deepEqual(await found('userId', '42'), [])
}

const decomposed = 'jose\u0301@example.com'
const composed = 'jos\u00e9@example.com'

/** The lookup key of an identifier in 0.2.0, in hexadecimal. */
function oldLookupKey(name: string, value: string): string {
  return hash('sha256', `acme\0${name}\0${name === 'email' ? value.toLowerCase() : value}`).slice(0, 32)
}

/** SQL that fills a store of 0.2.0: `oldStoreSql`, and identifiers from before they were compared in NFC. */
export function oldIdentifiersSql(key: string, bytes: (hex: string) => string): string[] {
  const rows = [
    ['email', decomposed, start + 2],
    // The same address in different spellings.
    ['email', composed.toUpperCase(), start + 1],
    ['email', 'jose\u0301@EXAMPLE.org', start + 1],
    ['email', 'jos\u00e9@example.org', start + 3],
    ['userId', 'Jose\u0301', start + 1],
    ['userId', 'plain', start + 1],
  ] as const
  return [
    ...oldStoreSql(key),
    ...rows.map(
      ([name, value, broughtAt]) =>
        `INSERT INTO identifiers (subject_key, lookup_key, tracker_id, subject_id, name, value, brought_at)
         VALUES (${key}, ${bytes(oldLookupKey(name, value))}, 'shop', 'anna', '${name}', '${value}', ${broughtAt})`,
    ),
  ]
}

/** Fails unless everyone in that store is found in any encoding of accents, each identifier once. */
export async function assertComparedInNfc(store: Store): Promise<void> {
  const { identifiers } = (await store.subjects.read(tracker, 'anna')) ?? {}
  assert.deepEqual(identifiers, [
    { name: 'email', value: decomposed },
    { name: 'email', value: 'jos\u00e9@example.org' },
    { name: 'userId', value: 'Jose\u0301' },
    { name: 'userId', value: 'plain' },
  ])
  for (const [name, value] of [
    ...[composed, decomposed, 'Jos\u00c9@example.org', 'jose\u0301@example.org'].map((each) => [
      'email',
      each,
    ]),
    ...['Jos\u00e9', 'Jose\u0301', 'plain'].map((each) => ['userId', each]),
  ] as [string, string][]) {
    const query = { sought: { identifier: { name, value } }, limit: 10, after: null }
    assert.equal((await store.search.subjects(tracker, query)).rows.length, 1, `${name}=${value}`)
  }
  assert.deepEqual(await store.search.identifierNames('acme', 100), ['email', 'userId'])
}
