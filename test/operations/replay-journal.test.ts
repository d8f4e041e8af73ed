import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { commandLine } from '../../src/domain/activity.ts'
import { proveCredential } from '../../src/domain/credential.ts'
import { KnownChanges } from '../../src/domain/journal.ts'
import type { JournalLine, JournalledEntry } from '../../src/domain/journal-line.ts'
import { Keyring } from '../../src/domain/keyring.ts'
import { formatRecord } from '../../src/domain/ledger-record.ts'
import { hashToken } from '../../src/domain/randomness.ts'
import { defaultRetentionDays } from '../../src/domain/retention.ts'
import type { Store } from '../../src/domain/store.ts'
import { FileJournal, mergeJournals } from '../../src/journal.ts'
import { activityNote } from '../../src/operations/activity.ts'
import { authenticateKey, createKey, rotateKey } from '../../src/operations/api-key.ts'
import { LedgerJournal, openJournal } from '../../src/operations/journal.ts'
import { readChanges } from '../../src/operations/journal-changes.ts'
import { acceptInvitation, inviteMember, issueLink } from '../../src/operations/member.ts'
import { replayChanges, replayIfSetBack, replayInRestored } from '../../src/operations/replay-journal.ts'
import { authenticateMember } from '../../src/operations/sign-in.ts'
import { verifyLedger } from '../../src/operations/verify-ledger.ts'
import { systemRandomness } from '../../src/runtime/randomness.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { addShop } from '../support/filled-store.ts'
import { freshStore } from '../support/fresh-database.ts'
import { emails, recordNothingHeld } from '../support/nothing-held.ts'
import { storeRequest } from '../support/privacy-request.ts'
import { always } from '../support/rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testKeyring, testKeys, testMark, testSecret } from '../support/test-keyring.ts'

const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }
const atOnce = { subjectId: 'anna', trackerId: 'shop' }

const engines: Record<string, (t: TestContext) => Promise<string>> = {
  SQLite: async (t) => `sqlite:${join(temporaryFolder(t), 'lethe.db')}`,
  PostgreSQL: freshStore,
}

function erasure(index: number, subjectId: string, erasedAt: number): JournalledEntry {
  const { digest, commitment: subject } = testMark(tracker, subjectId, erasedAt)
  const counts = { sessions: 1, events: 1 }
  const erased = { alreadyErased: false, counts, erasedAt, subject, trackerId: 'shop' }
  const record = formatRecord({ version: 1, ...erased })
  const tombstone = { trackerId: 'shop', digest, refusedUntil: erasedAt }
  return { kind: 'erasure', organisationId: 'acme', index, record, at: erasedAt, tombstone }
}

/** Stores a running request, and returns a function that reads its state. */
async function runRequest(store: Store): Promise<() => Promise<string | undefined>> {
  const ref = await storeRequest(store, 'acme', { receivedAt: 5 })
  const startedBy = { kind: 'member', id: 'mem_1', name: 'ada@acme.example' } as const
  const found = { subjects: 1, sessions: 1, events: 1 }
  const note = { id: randomUUID(), at: 5, actor: startedBy, requestId: null, organisationId: 'acme' } as const
  const started = { ...note, kind: 'request.started', target: ref.id } as const
  const starter = { startedBy, requestId: null, found }
  assert.equal((await store.requestGroups.start([{ ref, starter, note: started }])).started, 1)
  return async () => (await store.privacyRequests.find(ref))?.state
}

const verifying = (store: Store) => ({
  ...store,
  keyring: testKeyring,
  clock: () => 0,
  retentionDays: defaultRetentionDays,
})

async function* told(...lines: JournalLine[]): AsyncGenerator<JournalLine> {
  yield* lines
}

for (const [engine, address] of Object.entries(engines)) {
  describe(`a replay on ${engine}`, () => {
    async function open(t: TestContext) {
      const store = await openStoreAt(await address(t), { writesHere: true })
      t.after(() => store.close())
      await addShop(store)
      const event = (sessionId: string, occurredAt: number) =>
        ({
          type: 'event',
          ...atOnce,
          sessionId,
          eventId: `${occurredAt}`,
          name: 'e',
          occurredAt,
          properties: {},
        }) as const
      const session = (sessionId: string, startedAt: number, endedAt: number) =>
        ({ type: 'session', ...atOnce, sessionId, startedAt, endedAt, attributes: { sessionId } }) as const
      const rows = [
        ...[session('old', 10, 20), event('old', 15)],
        ...[session('over', 40, 90), event('over', 45), event('over', 60), event('over', 70)],
        ...[session('new', 80, 95), event('new', 85)],
      ]
      await store.ingest.ingest(rows, testKeys)
      return store
    }

    it('stops erasures that were running when the store was copied, because they may have been cancelled since', async (t) => {
      const store = await open(t)
      const stateOf = await runRequest(store)
      const restored = { ...store, clock: () => 100, activityDays: 730 }
      const replay = async () => (await replayInRestored(restored, testKeyring, told())).stoppedErasures
      assert.deepEqual([await replay(), await replay()], [1, 0])
      assert.equal(await stateOf(), 'open')
      assert.equal((await store.subjects.read(tracker, 'anna'))?.counts.sessions, 3)
    })

    it('ends the sessions and removes the links, recovery codes and challenges from when the store was copied', async (t) => {
      const store = await open(t)
      const deps = { ...store, clock: () => 100, randomness: systemRandomness, activityDays: 730 }
      const joined = await inviteMember(
        deps,
        { organisationId: 'acme', email: 'ada@acme.example' },
        commandLine,
      )
      const passwords = { hash: async () => 'hash', matches: async () => false }
      const { browser } = await acceptInvitation(
        { ...deps, passwords, keyring: testKeyring },
        { token: joined.token, password: 'correct horse battery' },
        { requestId: 'request', device: null, address: null, relyingParty: null, replaces: null },
      )
      assert.ok(browser)
      const { token } = browser
      const [ada] = await store.members.list('acme')
      assert.ok(ada)
      const reset = await issueLink(deps, ada, commandLine)
      const invited = await inviteMember(
        deps,
        { organisationId: 'acme', email: 'ben@acme.example' },
        commandLine,
      )
      assert.ok(await authenticateMember(deps, token))
      const noted = { organisationId: 'acme', kind: 'member.recovery-codes-created', target: null } as const
      await store.recoveryCodes.replace(ada.id, ['one', 'two'], activityNote(deps, commandLine, noted))
      const challenge = { tokenHash: 'asked', kind: 'second-factor', memberId: ada.id, data: '{}' } as const
      assert.ok(await store.signInChallenges.create({ ...challenge, createdAt: 100, expiresAt: 200 }))
      const replay = () => replayInRestored(deps, testKeyring, told())
      assert.partialDeepStrictEqual(await replay(), {
        endedSignIns: 1,
        withdrawnLinks: 2,
        removedRecoveryCodes: 2,
      })
      assert.partialDeepStrictEqual(await replay(), {
        endedSignIns: 0,
        withdrawnLinks: 0,
        removedRecoveryCodes: 0,
      })
      assert.equal(await authenticateMember(deps, token), null)
      assert.equal(await store.recoveryCodes.count(ada.id), 0)
      assert.equal(await store.signInChallenges.find('asked', 'second-factor', 100), null)
      for (const { token } of [reset, invited]) {
        assert.equal(await store.members.findInvited(hashToken(token), 100), null)
      }
      assert.equal((await store.members.list('acme')).length, 2)
      const again = await inviteMember(
        deps,
        { organisationId: 'acme', email: 'ben@acme.example' },
        commandLine,
      )
      assert.ok(await store.members.findInvited(hashToken(again.token), 100))
    })

    it('ends with the last string of a key, even if the clock was set back between two rotations', async (t) => {
      const [store, older] = [await open(t), await open(t)]
      const journal = new LedgerJournal(new FileJournal(join(temporaryFolder(t), 'lethe.journal')), store)
      let now = 1_000
      const deps = { ...store, journal, clock: () => now, randomness: systemRandomness }
      const wanted = { organisationId: 'acme', name: 'k', scopes: ['analytics:view'], expiresAt: null }
      const { key, keyString } = await createKey(deps, wanted)
      await older.apiKeys.create(key, proveCredential(keyString).hash)
      now += 3_600_000
      const early = await rotateKey(deps, key.id)
      now -= 3_600_000
      const last = await rotateKey(deps, key.id)
      assert.equal((await replayChanges(older, testKeyring, journal.read())).rotatedKeys, 2)
      assert.equal((await replayChanges(older, testKeyring, journal.read())).rotatedKeys, 0)
      const isGood = async (text: string) =>
        (await authenticateKey({ ...deps, apiKeys: older.apiKeys }, text)) !== null
      assert.deepEqual(await Promise.all([keyString, early.keyString, last.keyString].map(isGood)), [
        false,
        false,
        true,
      ])
      assert.deepEqual(await older.apiKeys.find(key.id), await store.apiKeys.find(key.id))
      // The journal contains every change of the store: nothing is left to append.
      const known = new KnownChanges()
      for await (const line of journal.read()) known.add(line)
      for await (const lines of readChanges(store, known)) assert.deepEqual(lines, [])
    })

    it('keeps the data of a returning visitor from after the erasure', async (t) => {
      const store = await open(t)
      const { removed } = await replayChanges(store, testKeyring, told(erasure(0, 'anna', 50)))
      assert.deepEqual(removed, { subjects: 0, sessions: 1, events: 2 })
      assert.partialDeepStrictEqual(await store.subjects.read(tracker, 'anna'), {
        firstSeenAt: 60,
        lastSeenAt: 95,
        counts: { sessions: 2, events: 3 },
      })
      const page = await store.sessions.list(tracker, 'anna', { limit: 10, after: null })
      assert.deepEqual(
        page?.rows.map(({ sessionId, startedAt, endedAt, attributes }) => [
          sessionId,
          startedAt,
          endedAt,
          attributes,
        ]),
        [
          ['new', 80, 95, { sessionId: 'new' }],
          ['over', 60, 70, {}],
        ],
      )
    })

    it('accepts entries in any order and repeated, and ends with the ledger they form', async (t) => {
      const store = await open(t)
      const [a, b, c] = [erasure(0, 'a', 1), erasure(1, 'b', 2), erasure(2, 'c', 3)]
      const { entries } = await replayChanges(store, testKeyring, told(c, a, a, b, c, b))
      assert.equal(entries, 3)
      const records = (await store.ledger.list('acme', 0, 10)).map(({ record }) => record)
      assert.deepEqual(records, [a.record, b.record, c.record])
    })

    const recordsIn = async (store: Store) =>
      (await store.ledger.list('acme', 0, 100)).map(({ record }) => record)
    const [a, b, c, d] = [erasure(0, 'a', 1), erasure(1, 'b', 2), erasure(2, 'c', 3), erasure(3, 'anna', 100)]
    const at = (entry: JournalledEntry, index: number) => ({ ...entry, index })

    it('erases the people of entries after a gap, and reports the gap', async (t) => {
      const store = await open(t)
      const replayed = await replayChanges(store, testKeyring, told(a, d))
      assert.partialDeepStrictEqual(replayed, { entries: 1, tombstones: 2, removed: { subjects: 1 } })
      assert.deepEqual(replayed.problems, [
        'No journal holds entries 1 to 2 of the ledger of the organisation "acme".',
      ])
      assert.equal(await store.subjects.read(tracker, 'anna'), null)
      assert.deepEqual(await recordsIn(store), [a.record])
      const again = await replayChanges(store, testKeyring, told(a, d))
      assert.deepEqual([again.tombstones, again.problems.length], [0, 1])
      // A tombstone without an entry has no receipt, and is replaced when the entry arrives.
      const digests = testKeyring.tombstoneDigests('shop', 'anna')
      const find = () => store.tombstones.find(tracker, digests, { limit: 10, before: null })
      assert.deepEqual(await find(), [])
      const whole = await replayChanges(store, testKeyring, told(c, d, b, a))
      assert.deepEqual([whole.entries, whole.problems], [3, []])
      assert.deepEqual(
        (await find()).map(({ ledgerIndex }) => ledgerIndex),
        [3],
      )
    })

    it('closes a gap with mend, and still reports it', async (t) => {
      const store = await open(t)
      await replayChanges(store, testKeyring, told(a, d))
      const mended = await replayChanges(store, testKeyring, told(a, d), { mend: true })
      assert.deepEqual([mended.entries, mended.movedEntries, mended.problems.length], [1, 0, 1])
      assert.deepEqual(await recordsIn(store), [a.record, d.record])
      assert.equal((await verifyLedger(verifying(store), 'acme')).problem, null)
    })

    it('changes nothing in a ledger whose gap was closed, however long it has become since', async (t) => {
      const store = await open(t)
      await replayChanges(store, testKeyring, told(a, d), { mend: true })
      const [e, f, g] = [erasure(2, 'e', 200), erasure(3, 'f', 201), erasure(4, 'g', 202)]
      for (const later of [e, f, g]) {
        for (const mend of [true, false]) {
          const again = await replayChanges(store, testKeyring, told(a, d), { mend })
          assert.deepEqual([again.entries, again.movedEntries, again.tombstones], [0, 0, 0])
          assert.deepEqual(again.problems, [])
        }
        const { record } = later
        await replayChanges(
          store,
          testKeyring,
          told(a, at(d, 1), ...[e, f, g].filter((x) => x.index <= later.index)),
        )
        assert.equal((await recordsIn(store)).at(-1), record)
      }
      assert.deepEqual(
        await recordsIn(store),
        [a, d, e, f, g].map(({ record }) => record),
      )
      assert.equal((await verifyLedger(verifying(store), 'acme')).problem, null)
    })

    it('is refused at a start with the journal of before a gap was closed', async (t) => {
      const store = await open(t)
      await replayChanges(store, testKeyring, told(a, d), { mend: true })
      const file = new FileJournal(join(temporaryFolder(t), 'lethe.journal'))
      await file.append([a, d])
      const deps = { ...store, keyring: testKeyring, clock: () => 100, activityDays: 730 }
      await assert.rejects(
        openJournal(new LedgerJournal(file, store), deps),
        /was repaired.*Move the journal away/,
      )
    })

    const [e, f] = [erasure(2, 'e', 200), erasure(3, 'f', 300)]
    const orders = { first: [0, 1], last: [1, 0] } as const
    for (const [order, [older, newer]] of Object.entries(orders)) {
      it(`takes the entries behind a gap that was closed from the newer journal, with the older one ${order}`, async (t) => {
        const folder = temporaryFolder(t)
        const places = [join(folder, 'one'), join(folder, 'other')]
        await new FileJournal(places[older] ?? '').append([a, d])
        const whole = [a, at(d, 1), e, f]
        for (const length of [2, 3, 4]) {
          const store = await open(t)
          await replayChanges(store, testKeyring, told(a))
          const place = places[newer] ?? ''
          rmSync(place, { force: true })
          await new FileJournal(place).append(whole.slice(0, length))
          const merged = mergeJournals(places, () => assert.fail())
          const replayed = await replayChanges(store, testKeyring, merged)
          assert.deepEqual([replayed.entries, replayed.tombstones], [length - 1, length - 1])
          assert.deepEqual(replayed.problems, [])
          const records = whole.slice(0, length).map(({ record }) => record)
          assert.deepEqual(await recordsIn(store), records)
          assert.equal((await verifyLedger(verifying(store), 'acme')).problem, null)
          const mended = await replayChanges(
            store,
            testKeyring,
            mergeJournals(places, () => assert.fail()),
            {
              mend: true,
            },
          )
          assert.deepEqual([mended.entries, mended.movedEntries, mended.problems], [0, 0, []])
          assert.deepEqual(await recordsIn(store), records)
        }
      })
    }

    it('loses no entry of a long ledger that forked', async (t) => {
      const store = await open(t)
      const own = Array.from({ length: 520 }, (_, i) => erasure(i, `own-${i}`, i))
      await replayChanges(store, testKeyring, told(...own))
      const theirs = Array.from({ length: 30 }, (_, i) => erasure(490 + i, `theirs-${i}`, 490 + i))
      const journalled = [...own.slice(0, 490), ...theirs]
      const replayed = await replayChanges(store, testKeyring, told(...journalled))
      assert.equal(replayed.tombstones, 30)
      const mended = await replayChanges(store, testKeyring, told(...journalled), { mend: true })
      assert.deepEqual([mended.entries, mended.movedEntries], [30, 30])
      const records = (await store.ledger.list('acme', 0, 1_000)).map(({ record }) => record)
      const expected = [...journalled, ...own.slice(490)].map(({ record }) => record)
      assert.deepEqual(records, expected)
    })

    it('erases the person of a contradicting entry, and leaves the ledger unchanged', async (t) => {
      const store = await open(t)
      await replayChanges(store, testKeyring, told(a, at(b, 1)))
      const replayed = await replayChanges(store, testKeyring, told(a, at(c, 1), at(d, 2)))
      assert.partialDeepStrictEqual(replayed, { entries: 0, tombstones: 2, removed: { subjects: 1 } })
      assert.match(
        replayed.problems.join(),
        /"acme" and the journal have different entries at index 1: .*--mend/,
      )
      assert.deepEqual(await recordsIn(store), [a.record, b.record])
    })

    it('mends a forked ledger: the journal’s entries first, then its own, with all references to them', async (t) => {
      const store = await open(t)
      const note = (subjectId: string) => ({
        ...{ id: randomUUID(), at: 5, actor: { kind: 'command-line' } as const, requestId: null },
        ...({ organisationId: 'acme', kind: 'subject.erased', target: subjectId } as const),
      })
      const own: string[] = []
      for (const [subjectId, erasedAt] of [
        ['x', 1],
        ['y', 2],
        ['z', 3],
      ] as const) {
        const mark = testMark(tracker, subjectId, erasedAt)
        const erased = await store.subjects.erase(tracker, subjectId, mark, note(subjectId))
        own.push(erased?.record ?? '')
      }
      const journalled = [
        { ...erasure(0, 'x', 1), record: own[0] ?? '' },
        ...[at(b, 1), at(c, 2), at(d, 3)],
        // Version 0.2 also continued in the journal.
        { ...erasure(1, 'y', 2), record: own[1] ?? '' },
      ]
      const mended = await replayChanges(store, testKeyring, told(...journalled), { mend: true })
      assert.deepEqual([mended.entries, mended.movedEntries, mended.problems], [3, 2, []])
      const records = [own[0], b.record, c.record, d.record, own[1], own[2]]
      assert.deepEqual(await recordsIn(store), records)
      assert.equal((await verifyLedger(verifying(store), 'acme')).problem, null)
      assert.equal(await store.subjects.read(tracker, 'anna'), null)
      for (const [subjectId, index] of [
        ['x', 0],
        ['b', 1],
        ['anna', 3],
        ['y', 4],
        ['z', 5],
      ] as const) {
        const digests = testKeyring.tombstoneDigests('shop', subjectId)
        const found = await store.tombstones.find(tracker, digests, { limit: 10, before: null })
        assert.deepEqual(
          found.map(({ ledgerIndex }) => ledgerIndex),
          [index],
          subjectId,
        )
      }
      const { rows } = await store.activity.list('acme', { limit: 10, after: null, requestId: null })
      const indexes = rows.map(({ target, ledgerIndex }) => [target, ledgerIndex])
      assert.deepEqual(Object.fromEntries(indexes), { x: 0, y: 4, z: 5 })
      const again = await replayChanges(store, testKeyring, told(...journalled), { mend: true })
      assert.deepEqual([again.entries, again.movedEntries, again.tombstones], [0, 0, 0])
      assert.deepEqual((await replayChanges(store, testKeyring, told(...journalled))).problems, [])
      // The ledger can continue.
      await store.subjects.erase(tracker, 'next', testMark(tracker, 'next', 9))
      assert.equal((await recordsIn(store)).length, 7)
    })

    it('restores no-data entries, which have no tombstone', async (t) => {
      const [store, older] = [await open(t), await open(t)]
      const journal = new LedgerJournal(new FileJournal(join(temporaryFolder(t), 'lethe.journal')), store)
      const deps = { ...store, journal, keyring: testKeyring, clock: () => 5 }
      await store.subjects.erase(tracker, 'a', testMark(tracker, 'a', 1))
      const [one, two] = await recordNothingHeld(deps, 'acme', emails('ada@example.com', 'eva@example.com'))
      assert.deepEqual([one?.ledgerIndex, two?.ledgerIndex], [1, 2])
      await store.subjects.erase(tracker, 'b', testMark(tracker, 'b', 5))
      await recordNothingHeld(deps, 'acme', emails('Ida@example.com'))
      const known = new KnownChanges()
      for await (const line of journal.read()) known.add(line)
      assert.equal(known.ledger('acme').next, 5)
      for await (const lines of readChanges(store, known)) assert.deepEqual(lines, [])
      const replayed = await replayChanges(older, testKeyring, journal.read())
      assert.deepEqual([replayed.entries, replayed.tombstones, replayed.problems], [5, 2, []])
      assert.deepEqual(await recordsIn(older), await recordsIn(store))
      for (const each of [store, older])
        assert.equal((await verifyLedger(verifying(each), 'acme')).problem, null)
    })

    it('mends a ledger with no-data entries, in the journal and in the store', async (t) => {
      const [store, other] = [await open(t), await open(t)]
      const deps = { keyring: testKeyring, clock: () => 5 }
      await replayChanges(store, testKeyring, told(a))
      await replayChanges(other, testKeyring, told(a))
      const [own] = await recordNothingHeld({ ...store, ...deps }, 'acme', emails('own@example.com'))
      await store.subjects.erase(tracker, 'b', testMark(tracker, 'b', 5))
      const [theirs] = await recordNothingHeld({ ...other, ...deps }, 'acme', emails('theirs@example.com'))
      const record = theirs?.entry.record ?? ''
      const line = {
        kind: 'nothing-held',
        organisationId: 'acme',
        index: 1,
        record,
        at: 5,
        tombstone: null,
      } as const
      const mended = await replayChanges(store, testKeyring, told(a, line), { mend: true })
      assert.deepEqual([mended.entries, mended.movedEntries, mended.problems], [1, 2, []])
      const [, , , moved] = await recordsIn(store)
      assert.deepEqual(await recordsIn(store), [a.record, record, own?.entry.record, moved])
      assert.equal((await verifyLedger(verifying(store), 'acme')).problem, null)
    })

    it('mends a ledger without losing entries that are identical', async (t) => {
      const store = await open(t)
      // Two erasures of a subject that was never seen, in one millisecond.
      const [x, y] = [erasure(1, 'x', 2), erasure(1, 'y', 5)]
      await replayChanges(store, testKeyring, told(a, at(y, 1), at(y, 2)))
      const journal = [a, at(x, 1), at(x, 2), at(x, 3)]
      const mended = await replayChanges(store, testKeyring, told(...journal), { mend: true })
      assert.deepEqual([mended.entries, mended.movedEntries, mended.problems], [3, 2, []])
      assert.deepEqual(
        await recordsIn(store),
        [a, x, x, x, y, y].map(({ record }) => record),
      )
      assert.equal((await verifyLedger(verifying(store), 'acme')).problem, null)
      const again = await replayChanges(store, testKeyring, told(...journal), { mend: true })
      assert.deepEqual([again.entries, again.movedEntries, again.tombstones], [0, 0, 0])
    })

    it('does not mend a ledger that was changed without the secret', async (t) => {
      const store = await open(t)
      await replayChanges(store, testKeyring, told(a, b))
      const thief = new Keyring([testSecret('another')], 'lethe.local')
      await assert.rejects(replayChanges(store, thief, told(a, c), { mend: true }), { name: 'ForgedLedger' })
    })

    it('stops no erasure of a store that lost nothing', async (t) => {
      const store = await open(t)
      await replayChanges(store, testKeyring, told(a))
      const restored = { ...store, clock: () => 100, activityDays: 730 }
      const stopped = async (...lines: JournalLine[]) =>
        (await replayIfSetBack(restored, testKeyring, told(...lines))).stoppedErasures
      await runRequest(store)
      assert.deepEqual([await stopped(a), await stopped(a, b)], [0, 1])
    })
  })
}
