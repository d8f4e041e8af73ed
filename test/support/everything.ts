import assert from 'node:assert/strict'
import type { Store } from '../../src/domain/store.ts'
import { always, at, eventRow, sessionRow } from './rows.ts'

/** The trackers of `fillEverything`, as one sees them from whom nothing is hidden. */
export const everyTracker = [
  { organisationId: 'acme', trackerId: 'shop', since: always },
  { organisationId: 'acme', trackerId: '🛒 läden/1', since: always },
  { organisationId: 'ümlaut & co', trackerId: 'blog', since: always },
]

/** Ids whose order and spelling engines might see differently. The last two change places where text is taken for UTF-16. */
export const oddIds = [
  'a',
  'B',
  'ä',
  'z',
  "o'clock",
  'back\\slash',
  '\\N',
  'a\u0301',
  '100%',
  '\uffee',
  '\u{1f600}',
]

const start = at('2026-11-01T10:00:00.000Z')

/** Puts something into every table, of every kind there is: keys in each state, odd ids, instants before 1970, an erasure. */
export async function fillEverything(store: Store): Promise<void> {
  await store.organisations.create({ id: 'acme', name: 'Acme 🏢', plan: 'free', createdAt: 1 })
  await store.organisations.create({ id: 'ümlaut & co', name: 'Ümlaut', plan: 'business', createdAt: -1 })
  for (const { organisationId, trackerId } of everyTracker) {
    await store.trackers.create({ id: trackerId, organisationId, name: `The ${trackerId}`, createdAt: 3 })
  }
  await createKeys(store)
  for (const { trackerId } of everyTracker) {
    await store.ingest.ingest(oddIds.flatMap((subjectId) => visitsOf(trackerId, subjectId)))
  }
  const [shop] = everyTracker
  assert.ok(shop)
  await store.ingest.ingest([eventRow({ subjectId: 'erased', eventId: 'e' })])
  assert.deepEqual(await store.subjects.erase(shop, 'erased'), { sessions: 1, events: 1 })
}

async function createKeys({ apiKeys }: Store): Promise<void> {
  for (const id of ['active', 'rotated', 'revoked', 'used', 'expiring']) {
    const key = {
      id,
      organisationId: 'acme',
      name: `The ${id} key`,
      scopes: ['analytics:view' as const, 'analytics:delete-data' as const],
      lastFour: 'abcd',
      createdAt: start,
      rotatedAt: null,
      expiresAt: id === 'expiring' ? start + 9 : null,
      revokedAt: null,
      lastUsedAt: null,
    }
    assert.equal(await apiKeys.create(key, `hash of ${id}`), true)
  }
  await apiKeys.rotate('rotated', { hash: 'another hash', lastFour: 'wxyz' }, start + 1)
  await apiKeys.revoke('revoked', start + 2)
  await apiKeys.touch(new Map([['used', start + 3]]))
}

/** A session with attributes, one that only events have spoken of, and one from long ago. */
function visitsOf(trackerId: string, subjectId: string) {
  const visit = { trackerId, subjectId }
  const odd = {
    quotes: `"'`,
    lines: 'a\nb\r\tc\\d',
    nul: '\0',
    lone: '\ud800',
    emoji: '😀',
    deep: [{ n: null }],
  }
  return [
    sessionRow({
      ...visit,
      sessionId: subjectId,
      startedAt: start,
      endedAt: start + 60_000,
      attributes: odd,
    }),
    eventRow({ ...visit, sessionId: subjectId, eventId: subjectId, occurredAt: start + 1, properties: odd }),
    eventRow({
      ...visit,
      sessionId: 'unsaid',
      eventId: 'e',
      occurredAt: start - 86_400_000,
      name: subjectId,
    }),
    eventRow({ ...visit, sessionId: 'ancient', eventId: 'e', occurredAt: -86_400_001 }),
  ]
}
