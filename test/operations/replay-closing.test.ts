import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Origin } from '../../src/domain/activity.ts'
import { type Journal, KnownChanges } from '../../src/domain/journal.ts'
import {
  formatJournalLine,
  isEntry,
  type JournalLine,
  parseJournalLine,
} from '../../src/domain/journal-line.ts'
import type { PrivacyRequestRef } from '../../src/domain/privacy-request.ts'
import { FairQueue } from '../../src/domain/semaphore.ts'
import type { Store } from '../../src/domain/store.ts'
import { FileJournal } from '../../src/journal.ts'
import { sweepAged } from '../../src/maintenance/sweep.ts'
import { advanceRequest } from '../../src/operations/advance-privacy-request.ts'
import { type CertifiedEntry, certifyRequest } from '../../src/operations/certify-privacy-request.ts'
import {
  cancelRequest,
  closeRequest,
  extendRequest,
  rejectRequest,
  startRequest,
} from '../../src/operations/change-privacy-request.ts'
import { createRequest, newRequest } from '../../src/operations/create-privacy-request.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { LedgerJournal, openJournal } from '../../src/operations/journal.ts'
import { readChanges } from '../../src/operations/journal-changes.ts'
import { replayChanges, replayIfSetBack, replayInRestored } from '../../src/operations/replay-journal.ts'
import { addRequestNote, excludeRecord } from '../../src/operations/request-handling.ts'
import { systemRandomness } from '../../src/runtime/randomness.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { addShop } from '../support/filled-store.ts'
import { freshStore } from '../support/fresh-database.ts'
import { always, eventRow } from '../support/rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testKeyring, testKeys } from '../support/test-keyring.ts'
import { defaultPolicy, keeping, rememberWindows, stepBefore } from '../support/windows.ts'

const engines: Record<string, (t: TestContext) => Promise<string>> = {
  SQLite: async (t) => `sqlite:${join(temporaryFolder(t), 'lethe.db')}`,
  PostgreSQL: freshStore,
}

const noon = Date.parse('2026-11-15T12:00:00.000Z')
const dayMs = 86_400_000
const view = { organisationId: 'acme', since: always }
const member: Origin = {
  ...{ actor: { kind: 'member', id: 'mem_1', name: 'eva@acme.example' } as const, requestId: 'req-1' },
  organisationId: null,
}
const uuid = (last: number) => `6f8b2c1e-5a0d-4a57-9b7e-${String(last).padStart(12, '0')}`
const ref = (last: number): PrivacyRequestRef => ({ organisationId: 'acme', id: uuid(last) })
/** What must not remain of the person. */
const names = /ada@example\.com|anna-7|nobody@example\.com|called on Monday/

async function* noLines(): AsyncGenerator<JournalLine> {
  yield* []
}

for (const [engine, address] of Object.entries(engines)) {
  describe(`closings of requests, replayed on ${engine}`, () => {
    /** A store in which Ada has data in one tracker. */
    async function open(t: TestContext) {
      const store = await openStoreAt(await address(t), { writesHere: true })
      t.after(() => store.close())
      await addShop(store)
      await store.activity.add({
        ...{ id: 'first', organisationId: 'acme', at: 1, actor: { kind: 'command-line' } },
        ...{ kind: 'tracker.created', target: 'shop', requestId: null },
      })
      const identifiers = { email: 'ada@example.com' }
      const subject = { trackerId: 'shop', subjectId: 'anna-7' }
      await store.ingest.ingest(
        [eventRow({ ...subject, eventId: 'e', occurredAt: noon - 5, identifiers })],
        testKeys,
      )
      const queue = new FairQueue({ permits: 4, maxWaitingEach: 100, waitTimeoutMs: 60_000 })
      const parts = { randomness: systemRandomness, keyring: testKeyring, jobs: queue }
      return { ...store, ...defaultPolicy, ...parts, clock: () => noon }
    }
    type Deps = Awaited<ReturnType<typeof open>> & { journal?: Journal }

    function journalOf(t: TestContext, store: Store) {
      const place = join(temporaryFolder(t), 'lethe.journal')
      return { place, journal: new LedgerJournal(new FileJournal(place), store) }
    }

    const create = (deps: Deps, number: number, kind: 'access' | 'erasure' = 'erasure') =>
      createRequest(
        deps,
        view,
        {
          ...{ kind, receivedAt: noon - dayMs, reference: `Ticket ${number}`, requestId: uuid(number) },
          person: {
            identifiers: ['ada@example.com', 'nobody@example.com'].map((value) => ({ name: 'email', value })),
            subjects: [],
          },
        },
        member,
      )

    async function erase(deps: Deps, number: number): Promise<void> {
      const request = await startRequest(deps, view, uuid(number), member)
      const lease = { now: noon, until: noon + 10, restsUntil: noon + 20, after: '' }
      assert.equal((await deps.privacyRequests.lease('test', lease))?.id, request.id)
      for (;;) {
        const item = await deps.privacyRequests.next('test', request)
        assert.ok(item !== false)
        if (item) {
          const { trackerId, subjectId, position } = item
          await eraseSubject(deps, { ...view, trackerId }, subjectId, member, { request, position })
        } else if ((await advanceRequest(deps, 'test', view, request, member)) !== 'continues') return
      }
    }

    async function certified(deps: Deps, number: number): Promise<CertifiedEntry[]> {
      const entries: CertifiedEntry[] = []
      const request = await deps.privacyRequests.find(ref(number))
      assert.ok(request)
      const take = async (entry: CertifiedEntry) => void entries.push(entry)
      await certifyRequest(deps, request, take, new AbortController().signal)
      return entries
    }

    /** A closed request as stored, without internal progress. */
    async function tell(deps: Deps, number: number) {
      const request = await deps.privacyRequests.find(ref(number))
      assert.ok(request)
      const { searches: _, searchedAt: __, heldIdentifiers: ___, ...rest } = request
      const digests = await deps.requestHandling.personDigests(ref(number))
      const exclusions = await deps.requestHandling.exclusions(ref(number))
      const toHex = (digest: Uint8Array) => Buffer.from(digest).toString('hex')
      return {
        ...rest,
        digests: digests.map(toHex).sort(),
        exclusions: exclusions.map(({ digest, ...each }) => ({ ...each, digest: toHex(digest) })),
        items: await deps.privacyRequests.items(ref(number), -1, 99),
        certificate: await certified(deps, number),
      }
    }

    const exclude = (deps: Deps, number: number) =>
      excludeRecord(
        deps,
        view,
        uuid(number),
        { trackerId: 'shop', subjectId: 'anna-7' },
        'A shared device',
        member,
      )

    async function dump({ transfer }: Store): Promise<string> {
      let text = ''
      for (const table of transfer.tables.filter(({ name }) => name.startsWith('privacy_request')))
        text += JSON.stringify(await transfer.read(table, null, 1_000))
      return text
    }

    /** Whether each request is marked as sharing its reference, which the inbox uses. */
    async function sharingIn({ transfer }: Store): Promise<unknown[]> {
      const table = transfer.tables.find(({ name }) => name === 'privacy_requests') ?? assert.fail()
      const column = table.columns.findIndex(({ name }) => name === 'shares_reference')
      return (await transfer.read(table, null, 100)).map((row) => row[column])
    }

    it('leave requests as they were closed, without their person, including those unknown to the backup', async (t) => {
      const [store, backup] = [await open(t), await open(t)]
      const { place, journal } = journalOf(t, store)
      const deps = { ...store, journal }
      for (const number of [1, 2, 3, 4]) {
        for (const each of [deps, backup]) await create(each, number, number === 2 ? 'access' : 'erasure')
      }
      await addRequestNote(backup, 'acme', uuid(1), 'She called on Monday', member)
      await startRequest(backup, view, uuid(4), member)
      await create(deps, 5)
      // The certificate mentions an excluded record, unless the exclusion was removed.
      await exclude(deps, 3)
      await exclude(backup, 2)
      await closeRequest(deps, view, uuid(2), member)
      await extendRequest(deps, view, uuid(3), 'Many systems', member)
      await rejectRequest(deps, view, uuid(3), 'Not a customer', member)
      await startRequest(deps, view, uuid(4), member)
      await cancelRequest(deps, view, uuid(4), member)
      for (const number of [1, 5]) await erase(deps, number)

      assert.doesNotMatch(readFileSync(place, 'utf8'), names)
      assert.match(await dump(backup), names)
      const replayed = await replayIfSetBack(backup, testKeyring, journal.read())
      assert.partialDeepStrictEqual(replayed, { closedRequests: 5, problems: [] })
      for (const number of [1, 2, 3, 4, 5]) {
        assert.deepEqual(await tell(backup, number), await tell(deps, number), `request ${number}`)
      }
      assert.deepEqual(
        [(await tell(backup, 2)).exclusions.length, (await tell(backup, 3)).exclusions.length],
        [0, 1],
      )
      assert.deepEqual([(await certified(backup, 1)).length, (await certified(backup, 2)).length], [2, 1])
      assert.doesNotMatch(await dump(backup), names)
      assert.equal((await replayIfSetBack(backup, testKeyring, journal.read())).closedRequests, 0)
      // The journal contains every change of both stores.
      const known = new KnownChanges()
      for await (const line of journal.read()) known.add(line)
      for (const each of [store, backup]) {
        for await (const lines of readChanges(each, known)) assert.deepEqual(lines, [])
      }
    })

    it('leave the requests of a list with their lines, as one row of the inbox', async (t) => {
      const [store, backup] = [await open(t), await open(t)]
      const { journal } = journalOf(t, store)
      const deps = { ...store, journal }
      const person = { identifiers: [], subjects: [{ trackerId: 'shop', subjectId: 'anna-7' }] }
      const found = { subjects: 1, sessions: 1, events: 1 }
      const creations = [1, 2, 3].map((number) => {
        const wanted = { kind: 'erasure', person, receivedAt: null, reference: 'List', found } as const
        return newRequest(
          deps,
          'acme',
          { ...wanted, requestId: uuid(number), listLine: number },
          noon,
          member,
        )
      })
      assert.ok(await deps.requestGroups.create('acme', creations))
      for (const number of [1, 2, 3]) await cancelRequest(deps, view, uuid(number), member)
      assert.equal((await replayIfSetBack(backup, testKeyring, journal.read())).closedRequests, 3)
      for (const number of [1, 2, 3])
        assert.deepEqual(await tell(backup, number), await tell(deps, number), `line ${number}`)
      assert.deepEqual(
        await sharingIn(backup),
        [1, 2, 3].map(() => 1),
      )
    })

    it('are missing in the journal after a kill, and appended at startup; they reveal a store that was set back', async (t) => {
      const [store, backup] = [await open(t), await open(t)]
      for (const each of [store, backup]) await create(each, 1)
      // As if the process was killed between the commit and the line.
      await cancelRequest(store, view, uuid(1), member)
      const { place, journal } = journalOf(t, store)
      assert.partialDeepStrictEqual(await openJournal(journal, store), { appended: 1, replayed: null })
      const again = () => new LedgerJournal(new FileJournal(place), store)
      assert.partialDeepStrictEqual(await openJournal(again(), store), { appended: 0, replayed: null })
      const { replayed } = await openJournal(again(), backup)
      assert.equal(replayed?.closedRequests, 1)
      assert.deepEqual(await tell(backup, 1), await tell(store, 1))
      assert.partialDeepStrictEqual(await openJournal(again(), backup), { appended: 0, replayed: null })
    })

    it('restore no request that was swept, but close an open one however old its closing is', async (t) => {
      const [store, backup] = [await open(t), await open(t)]
      const { journal } = journalOf(t, store)
      const deps = { ...store, journal }
      for (const number of [1, 2]) await create(deps, number)
      await create(backup, 1)
      for (const number of [1, 2]) await cancelRequest(deps, view, uuid(number), member)
      const later = { ...backup, clock: () => noon + (defaultPolicy.activityDays + 1) * dayMs }
      assert.equal((await openJournal(journal, later)).replayed?.closedRequests, 1)
      assert.equal((await backup.privacyRequests.find(ref(1)))?.state, 'cancelled')
      assert.equal(await backup.privacyRequests.find(ref(2)), null)
      assert.equal((await openJournal(journal, later)).replayed, null)
    })

    it('may be missing for requests swept under a shorter window, so that running erasures continue', async (t) => {
      const store = await open(t)
      const { place, journal } = journalOf(t, store)
      const deps = { ...store, journal }
      await create(deps, 1)
      await cancelRequest(deps, view, uuid(1), member)
      const now = noon + 40 * dayMs
      const policy = { ...defaultPolicy, activityDays: 30 }
      const later = { ...deps, ...policy, clock: () => now }
      await store.retention.settleWindows({ policy, now, rule: 'immediately' })
      await sweepAged(later)
      assert.equal(await store.privacyRequests.find(ref(1)), null)
      await create(later, 2)
      await startRequest(later, view, uuid(2), member)
      const again = new LedgerJournal(new FileJournal(place), store)
      const opened = await openJournal(again, { ...store, clock: () => now, activityDays: 365 })
      assert.equal(opened.replayed, null)
      assert.equal((await store.privacyRequests.find(ref(2)))?.state, 'running')
    })

    it('do not change a later request with the ID of a swept one', async (t) => {
      const store = await open(t)
      const { place, journal } = journalOf(t, store)
      const deps = { ...store, journal }
      const again = () => new LedgerJournal(new FileJournal(place), store)
      await create(deps, 1)
      await cancelRequest(deps, view, uuid(1), member)
      await rememberWindows(store, keeping(1), 'acme')
      assert.equal((await store.privacyRequests.sweep('acme', stepBefore(noon + 1, 100))).requests, 1)
      await create({ ...deps, clock: () => noon + 5 }, 1)
      await startRequest(deps, view, uuid(1), member)
      assert.equal((await openJournal(again(), store)).replayed, null)
      assert.equal((await replayIfSetBack(store, testKeyring, journal.read())).closedRequests, 0)
      assert.equal((await store.privacyRequests.find(ref(1)))?.state, 'running')
      // As if the process was killed between the commit and the line.
      await cancelRequest(store, view, uuid(1), member)
      assert.equal((await openJournal(again(), store)).appended, 1)
      assert.equal((await openJournal(again(), store)).appended, 0)
    })

    it('have several lines for many subjects; if one is torn, the others are applied and the loss is reported', async (t) => {
      const [store, backup] = [await open(t), await open(t)]
      const { place, journal } = journalOf(t, store)
      const deps = { ...store, journal }
      const request = await create(deps, 1)
      await startRequest(deps, view, uuid(1), member)
      await deps.privacyRequests.lease('test', { now: 1, until: 9, restsUntil: 99, after: '' })
      const subjects = Array.from({ length: 1_000 }, (_, i) => ({ subjectId: `anna-7-${i}`, isHeld: true }))
      const search = {
        ...{ subjects: subjects.map((subject) => ({ trackerId: 'shop', ...subject })), isComplete: true },
        ...{ found: request.found, heldIdentifiers: [], now: noon },
      }
      assert.ok(await deps.privacyRequests.addSubjects('test', request, 0, search))
      await cancelRequest(deps, view, uuid(1), member)
      const lines = readFileSync(place, 'utf8').split('\n').filter(Boolean)
      assert.deepEqual(
        lines.map((line) => JSON.parse(line).items.length),
        [500, 500],
      )
      const [first = ''] = lines
      writeFileSync(place, `${first}\n`)
      const torn = () => new FileJournal(place).read()
      const { closedRequests, problems } = await replayChanges(backup, testKeyring, torn())
      assert.deepEqual(
        [closedRequests, problems],
        [
          1,
          [
            `No journal holds all lines of the request ${uuid(1)} of the organisation "acme": it is closed, but its certificate lacks entries.`,
          ],
        ],
      )
      assert.equal((await backup.privacyRequests.items(ref(1), -1, 2_000)).length, 500)
      const known = new KnownChanges()
      for await (const line of torn()) known.add(line)
      const missing: JournalLine[] = []
      for await (const each of readChanges(store, known)) missing.push(...each)
      assert.deepEqual(missing.map(formatJournalLine), lines)
    })

    it('clear the subjects found by stopped erasures, so that records can be excluded', async (t) => {
      const deps = await open(t)
      await create(deps, 1)
      const request = await startRequest(deps, view, uuid(1), member)
      const lease = { now: noon, until: noon + 10, restsUntil: noon + 20, after: '' }
      assert.ok(await deps.privacyRequests.lease('test', lease))
      assert.equal(await advanceRequest(deps, 'test', view, request, member), 'continues')
      assert.equal((await deps.privacyRequests.items(ref(1), -1, 9)).length, 1)
      const { stoppedErasures } = await replayInRestored(deps, testKeyring, noLines())
      assert.equal(stoppedErasures, 1)
      assert.deepEqual(await deps.privacyRequests.items(ref(1), -1, 9), [])
      await exclude(deps, 1)
      await erase(deps, 1)
      assert.equal((await deps.privacyRequests.find(ref(1)))?.state, 'done')
      assert.ok(await deps.subjects.read({ ...view, trackerId: 'shop' }, 'anna-7'), 'the record was excluded')
    })

    /**
     * A journal in which two requests are closed, whose entries follow that of another erasure at 0. If they were
     * not made at different instants, two of them are identical.
     */
    async function closedTwice(t: TestContext, { apart = 0 } = {}) {
      const [store, backup] = [await open(t), await open(t)]
      const { place, journal } = journalOf(t, store)
      const deps = { ...store, journal }
      await eraseSubject(deps, { ...view, trackerId: 'shop' }, 'another', member)
      for (const number of [1, 2]) {
        const each = { ...deps, clock: () => noon - apart * number }
        await create(each, number)
        await erase(each, number)
      }
      const lines: JournalLine[] = []
      for await (const line of new FileJournal(place).read()) lines.push(line)
      const isLost = (line: JournalLine) => isEntry(line) && line.index === 0
      const torn = async function* () {
        yield* lines.filter((line) => !isLost(line))
      }
      return { deps, backup, lines, torn }
    }
    const replay = { mend: true, keptSince: async () => 0 }
    const told = async (deps: Deps) => {
      const entries = await Promise.all([1, 2].map((number) => certified(deps, number)))
      return entries.map((each) => each.map(({ index, kind }) => [index, kind]))
    }

    for (const steps of [[true], [false, true], [true, true]]) {
      const how = steps.map((mend) => (mend ? 'repaired' : 'replayed')).join(', then ')
      it(`have certificates although the journal lacks an earlier entry, once the ledger was ${how}`, async (t) => {
        const { deps, backup, torn } = await closedTwice(t)
        for (const mend of steps) await replayChanges(backup, testKeyring, torn(), { ...replay, mend })
        const moved = (await told(deps)).map((each) => each.map(([index, kind]) => [Number(index) - 1, kind]))
        assert.deepEqual(await told(backup), moved)
        const known = new KnownChanges()
        for await (const lines of readChanges(backup, known)) for (const line of lines) known.add(line)
        // The next journal has the new indexes.
        const again = await open(t)
        const next = async function* () {
          for await (const lines of readChanges(backup, new KnownChanges())) yield* lines
        }
        for (const mend of [false, true]) {
          await replayChanges(again, testKeyring, next(), { ...replay, mend })
          assert.deepEqual(await told(again), moved)
        }
      })
    }

    it('have certificates in a ledger whose journals contest their indexes', async (t) => {
      const { deps, backup, lines } = await closedTwice(t, { apart: 1 })
      const other = await open(t)
      const { place, journal } = journalOf(t, other)
      for (const subjectId of ['x', 'y', 'z'])
        await eraseSubject({ ...other, journal }, { ...view, trackerId: 'shop' }, subjectId, member)
      const both = async function* () {
        for await (const line of new FileJournal(place).read())
          yield isEntry(line) ? { ...line, journal: 0 } : line
        for (const line of lines) yield isEntry(line) ? { ...line, journal: 1 } : line
      }
      const mended = await replayChanges(backup, testKeyring, both(), replay)
      assert.deepEqual([mended.closedRequests, mended.problems], [2, []])
      const entries = (await told(backup)).flat()
      const { length } = (await told(deps)).flat()
      assert.equal(entries.length, length)
      assert.equal(new Set(entries.map(([index]) => index)).size, length)
    })

    it('have certificates where the ledger went on by itself and was repaired afterwards', async (t) => {
      const { deps, backup, lines } = await closedTwice(t)
      for (const subjectId of ['x', 'y'])
        await eraseSubject(backup, { ...view, trackerId: 'shop' }, subjectId, member)
      const journalled = async function* () {
        yield* lines
      }
      for (const mend of [false, true, true])
        await replayChanges(backup, testKeyring, journalled(), { ...replay, mend })
      assert.deepEqual(await told(backup), await told(deps))
    })

    it('keep the entries of a request when the ledger is repaired', async (t) => {
      const [store, backup] = [await open(t), await open(t)]
      const { journal } = journalOf(t, store)
      const deps = { ...store, journal }
      await create(deps, 1)
      await erase(deps, 1)
      await eraseSubject(backup, { ...view, trackerId: 'shop' }, 'another', member)
      const mended = await replayChanges(backup, testKeyring, journal.read(), replay)
      assert.partialDeepStrictEqual(mended, { entries: 2, movedEntries: 1, closedRequests: 1 })
      const [ours, theirs] = [await certified(deps, 1), await certified(backup, 1)]
      assert.deepEqual(
        theirs.map(({ index, kind }) => [index, kind]),
        ours.map(({ index, kind }) => [index, kind]),
      )
    })
  })
}

describe('the journal line of a closing', () => {
  const line = {
    ...{ kind: 'request.closed', organisationId: 'acme', requestId: uuid(1), at: '2026-11-15T12:00:00.000Z' },
    ...{ requestKind: 'erasure', receivedAt: '2026-11-14T12:00:00.000Z', dueAt: '2026-12-14T12:00:00.000Z' },
    ...{ extendedAt: null, createdAt: '2026-11-15T12:00:00.000Z', startedWith: null, state: 'done' },
    ...{ reference: null, extensionReason: null, rejectionReason: null, namesIdentifiers: true },
    ...{ contentDigest: 'of it', createdBy: { kind: 'command-line' }, startedBy: null },
    found: { subjects: 1, sessions: 2, events: 3 },
    erased: { subjects: 1, sessions: 2, events: 3 },
    ...{
      left: 0,
      assigneeId: null,
      listLine: 3,
      people: ['00112233445566778899aabbccddeeff'],
      from: 0,
      isLast: true,
    },
    items: [
      { outcome: 'gone', trackerId: 'shop', identifier: null },
      { outcome: 'erased', trackerId: 'shop', identifier: null, ledgerIndex: 4, sealedNonce: 'sealed' },
    ],
  }

  const exclusion = {
    ...{ digest: '00112233445566778899aabbccddeeff', trackerId: 'shop', reason: 'A shared device' },
    ...{ at: '2026-11-15T12:00:00.000Z', by: { kind: 'member', id: 'mem_1', name: 'eva@acme.example' } },
  }

  for (const [what, written] of Object.entries({
    'is read as it was written': line,
    'is read with the excluded records': { ...line, exclusions: [exclusion] },
  })) {
    it(what, () => {
      const parsed = parseJournalLine(JSON.stringify(written))
      assert.ok(parsed)
      assert.deepEqual(JSON.parse(formatJournalLine(parsed)), written)
    })
  }

  const damages: Record<string, object> = {
    'another state': { state: 'open' },
    'another kind': { requestKind: 'errand' },
    'no instant': { at: 'noon' },
    'half a digest': { people: ['0011'] },
    'no list of items': { items: {} },
    'an item of another outcome': { items: [{ outcome: 'lost', trackerId: null, identifier: null }] },
    'an item with half an entry': { items: [{ ...line.items[1], sealedNonce: undefined }] },
    'an actor without a name': { createdBy: { kind: 'key', id: 'k' } },
    'a negative count': { found: { subjects: -1, sessions: 0, events: 0 } },
    'no position': { from: null },
    'an excluded record without a reason': { exclusions: [{ ...exclusion, reason: undefined }] },
  }
  for (const [what, fields] of Object.entries(damages)) {
    it(`is invalid with ${what}`, () => {
      assert.equal(parseJournalLine(JSON.stringify({ ...line, ...fields })), null)
    })
  }
})
