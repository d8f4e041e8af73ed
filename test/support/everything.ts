import assert from 'node:assert/strict'
import type { ActivityKind, ActivityNote } from '../../src/domain/activity.ts'
import type { Store, TransferRow } from '../../src/domain/store.ts'
import { variableSet } from '../../src/domain/variable.ts'
import { newSignIn } from './console.ts'
import { newApiKey } from './new-api-key.ts'
import { always, at, eventRow, sessionRow } from './rows.ts'
import { eraseIn, testKeys } from './test-keyring.ts'
import { keeping } from './windows.ts'

/** The trackers of `fillEverything`, in a view from which nothing has aged out. */
export const everyTracker = [
  { organisationId: 'acme', trackerId: 'shop', since: always },
  { organisationId: 'acme', trackerId: '🛒 läden/1', since: always },
  { organisationId: 'ümlaut & co', trackerId: 'blog', since: always },
]

/**
 * IDs that engines might sort or store differently. The last two change places if text is sorted as UTF-16.
 */
const oddIds = [
  ...['a', 'B', 'ä', 'z', "o'clock", 'back\\slash', '\\N', 'a\u0301', '100%', '\uffee', '\u{1f600}'],
]

const start = at('2026-11-01T10:00:00.000Z')
const member = { kind: 'member', id: 'mem_1', name: 'ada@acme.example' } as const

/**
 * Writes rows of every kind to every table: keys in each state, odd IDs, instants before 1970, an erasure.
 */
export async function fillEverything(store: Store): Promise<void> {
  await store.organisations.create({ id: 'acme', name: 'Acme 🏢', plan: 'free', createdAt: 1 })
  await store.organisations.create({ id: 'ümlaut & co', name: 'Ümlaut', plan: 'business', createdAt: -1 })
  for (const { organisationId, trackerId } of everyTracker) {
    await store.trackers.create({ id: trackerId, organisationId, name: `The ${trackerId}`, createdAt: 3 })
  }
  const { retention } = store
  await retention.settleWindows({ policy: keeping(9), now: 0, rule: 'immediately' })
  await retention.settleWindows({ policy: keeping(8), now: start, rule: 'grace', organisationId: 'acme' })
  await createProfiles(store)
  await createKeys(store)
  await createVariables(store)
  await createMembers(store)
  await createFactors(store)
  for (const id of ['acme', 'ümlaut & co']) {
    const changed = { ...note(`rule of ${id}`, 'organisation.approval-changed'), organisationId: id }
    assert.ok(await store.approvals.saveRule(id, 1_000, changed))
  }
  for (const { trackerId } of everyTracker) {
    await store.ingest.ingest(
      oddIds.flatMap((subjectId) => visitsOf(trackerId, subjectId)),
      testKeys,
    )
  }
  const [shop] = everyTracker
  assert.ok(shop)
  await store.ingest.ingest([eventRow({ subjectId: 'erased', eventId: 'e' })], testKeys)
  await store.ingest.countRefused({ bad: 2, of_erased: 0, too_old: 7 })
  assert.deepEqual(await eraseIn(store, shop, 'erased'), { sessions: 1, events: 1 })
  assert.deepEqual(await eraseIn(store, shop, 'never seen'), { sessions: 0, events: 0 })
  for (const [i, id] of ['request', 'closed request'].entries()) await createRequest(store, id, i === 1)
  await store.secrets.remember(['a fingerprint', 'an older one'], start)
}

/** Creates an erasure request that is running, or that was cancelled while it was. */
async function createRequest(
  { privacyRequests, requestGroups, requestHandling }: Store,
  id: string,
  isClosed: boolean,
): Promise<void> {
  const ref = { organisationId: 'acme', id }
  const person = {
    identifiers: [{ name: 'email', value: 'läufer@example.com' }],
    subjects: [{ trackerId: 'shop', subjectId: "o'clock" }],
  }
  const found = { subjects: 2, sessions: 3, events: 4 }
  const request = {
    ...({ ...ref, kind: 'erasure', reference: 'Ticket 🎫 7', receivedAt: start, dueAt: start + 9 } as const),
    ...{ person, contentDigest: `of ${id}`, createdAt: start, createdBy: member, found, listLine: 7 },
  }
  const digests = [Buffer.alloc(16, 1), Buffer.alloc(16, 255)]
  await privacyRequests.create(request, digests, note(id, 'request.created'))
  const extension = { dueAt: start + 99, reason: 'Jahresende', now: start + 1 }
  await privacyRequests.extend(ref, extension, note(`extended ${id}`, 'request.extended'))
  const excluded = { trackerId: 'shop', reason: `not "A's"`, at: start + 1, by: member }
  const excludedNote = note(`excluded ${id}`, 'request.record-excluded')
  await requestHandling.exclude(ref, excluded, [Buffer.alloc(16, 7)], excludedNote)
  for (const text of ['Läufer rief an\n🎫', '\\N']) {
    const written = { id: `${text} of ${id}`, at: start + 1, by: member, text }
    await requestHandling.addNote(ref, written, note(`wrote ${text} of ${id}`, 'request.note-added'))
  }
  const starter = { startedBy: member, requestId: 'req "2"', found }
  await requestGroups.start([{ ref, starter, note: note(`started ${id}`, 'request.started') }])
  const lease = { now: start, until: start + 8, restsUntil: start + 99, after: '' }
  assert.equal((await privacyRequests.lease('a process', lease))?.id, id)
  const subjects = ['B', 'ä'].map((subjectId) => ({ trackerId: '🛒 läden/1', subjectId, isHeld: true }))
  const search = { subjects, found, now: start + 2, heldIdentifiers: [0], isComplete: true }
  assert.ok(await privacyRequests.addSubjects('a process', ref, 0, search))
  await privacyRequests.release('a process', ref, { runsAt: start + 50, isBudgetSpent: true })
  if (!isClosed) return
  const closing = { from: ['running'], to: 'cancelled', now: start + 3, rejectionReason: null } as const
  await privacyRequests.close(ref, closing, note(`closed ${id}`, 'request.cancelled'))
}

async function createProfiles({ organisationProfiles, replyTexts }: Store): Promise<void> {
  for (const [id, displayName] of [
    ['acme', null],
    ['ümlaut & co', 'Ümlaut "AG"'],
  ] as const) {
    const changed = { ...note(`profile of ${id}`, 'organisation.profile-changed'), organisationId: id }
    const details = { displayName, contact: `o'clock\n\\N`, language: 'de' } as const
    assert.equal(await organisationProfiles.save(id, details, changed), true)
    const logo = { type: 'image/png', width: 2, height: 1, digest: `digest of ${id}`, image: 'AAAA' } as const
    assert.equal(await organisationProfiles.saveLogo(id, logo, { ...changed, id: `logo of ${id}` }), true)
    const text = {
      name: 'erasure.erased',
      language: 'en',
      text: `{dueAt}\n🛒 ${id}`,
      changedAt: start,
    } as const
    assert.equal(await replyTexts.save(id, text, { ...changed, id: `text of ${id}` }), true)
  }
}

async function createVariables({ variables, variableTokens }: Store): Promise<void> {
  const [shop] = everyTracker
  assert.ok(shop)
  for (const version of [1, 2]) {
    const values = new Map(Object.entries({ version, 'läden 🛒': ["o'clock", '\\N', null] }))
    const counts = { added: version, changed: 1, removed: 0 }
    const actor = version === 1 ? ({ kind: 'command-line' } as const) : member
    await variables.add(
      shop,
      { version, changedAt: start, actor, ...counts },
      variableSet(version, values),
      note(`variables ${version}`, 'variables.changed'),
    )
  }
  for (const id of ['token active', 'token rotated', 'token revoked']) {
    const never = { rotatedAt: null, revokedAt: null, lastUsedAt: null }
    const token = { id, trackerId: shop.trackerId, name: id, lastFour: 'abcd', createdAt: start, ...never }
    await variableTokens.create(shop, token, `hash of ${id}`, note(`created ${id}`, 'variable-token.created'))
  }
  const proof = { hash: 'another hash', lastFour: 'wxyz' }
  await variableTokens.rotate('token rotated', proof, start + 1, note('rotated', 'variable-token.rotated'))
  await variableTokens.revoke('token revoked', start + 2, note('revoked', 'variable-token.revoked'))
  await variableTokens.touch(new Map([['token active', start + 3]]))
}

async function createKeys({ apiKeys }: Store): Promise<void> {
  for (const id of ['active', 'rotated', 'revoked', 'used', 'expiring']) {
    const key = newApiKey({
      ...{ id, organisationId: 'acme', name: `The ${id} key`, createdAt: start },
      scopes: ['analytics:view', 'analytics:delete-data'],
      expiresAt: id === 'expiring' ? start + 9 : null,
    })
    assert.equal(await apiKeys.create(key, `hash of ${id}`), true)
  }
  await apiKeys.rotate('rotated', { hash: 'another hash', lastFour: 'wxyz' }, start + 1)
  await apiKeys.revoke('revoked', start + 2)
  const counts = { requests: 5, refusals: 1 }
  const days = ['used', 'active'].map((keyId) => ({ keyId, day: 20_000, ...counts }))
  await apiKeys.touch(new Map([['used', start + 3]]), days)
}

function note(id: string, kind: ActivityKind): ActivityNote {
  return {
    ...{ id, kind, organisationId: 'acme', at: start, target: 'änna@acme.example', requestId: '6b "odd"' },
    actor: { kind: 'member', id: 'anna', name: 'änna@acme.example' },
  }
}

/** Credentials and sign-in rules, written directly to their tables. */
async function createFactors({ transfer }: Store): Promise<void> {
  const rows: Record<string, TransferRow[]> = {
    passkeys: ['key 1', 'key 2'].map((id) => [
      ...[id, 'anna', `Änna's "key"`, 'AAAA', 7, '["usb"]', 'singleDevice', 0, start, null],
    ]),
    recovery_codes: ['hash 1', 'hash 2'].map((hash) => ['anna', hash]),
    sign_in_challenges: ['token 1', 'token 2'].map((token, i) => [
      ...[token, 'passkey', i === 0 ? 'anna' : null, '{"challenge":"läufer"}', start, start + 9],
    ]),
    sign_in_rules: ['acme', 'ümlaut & co'].map((id) => [id, 'required', 1, '["acme.example"]', 'viewer']),
  }
  for (const table of transfer.tables) {
    if (rows[table.name]) await transfer.add(table, rows[table.name] ?? [])
  }
}

/** One member who has signed in, and one with an unused invitation. */
async function createMembers({ members, signIns }: Store): Promise<void> {
  for (const id of ['anna', 'ben']) {
    const member = {
      id,
      organisationId: 'acme',
      email: `${id}@acme.example`,
      role: id === 'anna' ? ('admin' as const) : ('viewer' as const),
      createdAt: start,
      passwordSetAt: null,
      isConnected: false,
      language: null,
    }
    const link = { tokenHash: `link of ${id}`, expiresAt: start + 9 }
    assert.equal(await members.create(member, link, note(`invited ${id}`, 'member.invited')), true)
  }
  assert.equal(
    await members.setPassword('link of anna', 'a hash', start + 1, note('set', 'member.joined')),
    true,
  )
  for (const tokenHash of ['a token', 'another']) {
    const signIn = newSignIn('anna', tokenHash, start + 2)
    assert.equal(await signIns.begin(signIn, start + 1, note(tokenHash, 'member.signed-in')), true)
  }
}

/** A session with attributes, one known only from its event, and one from before 1970. */
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
      identifiers: { email: `${subjectId}@Example.com`, userId: subjectId },
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
