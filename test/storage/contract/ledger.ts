import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Keyring } from '../../../src/domain/keyring.ts'
import { hashesOfPath, hashLeaf, headAt, inclusionPath } from '../../../src/domain/merkle-tree.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { inclusionProof, rootOf } from '../../support/make-receipt.ts'
import { at, eventRow } from '../../support/rows.ts'
import { testKeyring, testMark, testSecret } from '../../support/test-keyring.ts'
import type { Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const fromBase64 = (text: string) => Buffer.from(text, 'base64')

export function ledgerContract(fixture: Fixture): void {
  const erase = async (tracker: TrackerView, subjectId: string, erasedAt = start) =>
    (await fixture.store.subjects.erase(tracker, subjectId, testMark(tracker, subjectId, erasedAt))) ??
    assert.fail('the tracker is there')

  const findTombstones = ({ trackerId, organisationId }: TrackerView, subjectId: string) =>
    fixture.store.tombstones.find(
      { trackerId, organisationId },
      testKeyring.tombstoneDigests(trackerId, subjectId),
      { limit: 100, before: null },
    )

  describe('an organisation’s ledger', () => {
    it('has an entry with a proof for every erasure, even of an unknown subject', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId, trackerId } = tracker
      assert.equal(await fixture.store.ledger.head(organisationId), null)
      await fixture.ingest([eventRow({ trackerId, subjectId: 'anna', eventId: 'e', occurredAt: start })])
      const records: string[] = []
      for (const [index, subjectId] of ['anna', 'anna', 'nobody', 'ben', 'cleo'].entries()) {
        const { counts, record, proof } = await erase(tracker, subjectId)
        assert.deepEqual(counts, index === 0 ? { sessions: 1, events: 1 } : { sessions: 0, events: 0 })
        records.push(record)
        const leaves = records.map((each) => Buffer.from(each))
        assert.equal(proof.index, index)
        assert.deepEqual(proof.path.map(fromBase64), inclusionProof(index, leaves))
        assert.equal(proof.head.size, index + 1)
        assert.deepEqual(Buffer.from(proof.head.rootHash), rootOf(leaves))
        assert.partialDeepStrictEqual(JSON.parse(record), { alreadyErased: index > 0, trackerId, counts })
      }
      const stored = await fixture.store.ledger.head(organisationId)
      assert.equal(stored?.frontier.size, records.length)
      const listed = await fixture.store.ledger.list(organisationId, 0, 100)
      assert.deepEqual(
        listed.map(({ frontier, ...entry }) => entry),
        records.map((record, index) => ({ index, record, leafHash: hashLeaf(record) })),
      )
      assert.deepEqual(await fixture.store.ledger.list(organisationId, 3, 1), listed.slice(3, 4))
      const path = inclusionPath(2, records.length)
      const hashes = await fixture.store.ledger.hashes(organisationId, path.flat())
      const leaves = records.map((record) => Buffer.from(record))
      assert.deepEqual(hashesOfPath(path, hashes), inclusionProof(2, leaves))
    })

    it('is separate for each organisation, and has no entry for an invisible subject', async () => {
      const [tracker, other] = [await fixture.createTracker(), await fixture.createTracker()]
      await erase(tracker, 'anna')
      assert.equal(await fixture.store.ledger.head(other.organisationId), null)
      const hidden = { ...tracker, organisationId: other.organisationId }
      assert.equal(await fixture.store.subjects.erase(hidden, 'anna', testMark(hidden, 'anna', start)), null)
      assert.equal(await fixture.store.ledger.head(other.organisationId), null)
      assert.deepEqual(await findTombstones(hidden, 'anna'), [])
    })

    it('can be continued with each of the secrets, whichever processes have which, and no other', async () => {
      const tracker = await fixture.createTracker()
      const [old, young, other] = [testSecret('old'), testSecret('young'), testSecret('other')]
      const keyrings = [[old], [young, old], [old], [young, old], [young]] as const
      const append = ({ headKeys }: Keyring, subjectId: string) => {
        const mark = { ...testMark(tracker, subjectId, start), guard: { headKeys, minEntries: 0 } }
        return fixture.store.subjects.erase(tracker, subjectId, mark)
      }
      for (const [index, secrets] of keyrings.entries()) {
        const erased = await append(new Keyring(secrets, 'lethe.local'), `visitor-${index}`)
        assert.equal(erased?.proof.index, index)
      }
      for (const secret of [other, old]) {
        await assert.rejects(append(new Keyring([secret], 'lethe.local'), 'nobody'), /not made with this/)
      }
    })

    it('appends several records in one transaction, each with its proof, or none of them', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId } = tracker
      const { record: first } = await erase(tracker, 'anna')
      const guard = { headKeys: testKeyring.headKeys, minEntries: 1 }
      const append = (records: readonly string[], minEntries = 1) =>
        fixture.store.ledger.append(organisationId, records, { ...guard, minEntries })
      const appended = (await append(['b', 'c', 'd'])) ?? assert.fail()
      const leaves = [first, 'b', 'c', 'd'].map((each) => Buffer.from(each))
      for (const [i, { record, proof }] of appended.entries()) {
        assert.deepEqual([record, proof.index], [['b', 'c', 'd'][i], i + 1])
        assert.deepEqual(proof.path.map(fromBase64), inclusionProof(i + 1, leaves))
        assert.deepEqual([proof.head.size, Buffer.from(proof.head.rootHash)], [4, rootOf(leaves)])
      }
      assert.deepEqual(await append([]), [])
      await assert.rejects(append(['e'], 5), /has 4 entries, but the journal has 5/)
      const thief = new Keyring([testSecret('thief')], 'lethe.local')
      const stolen = fixture.store.ledger.append(organisationId, ['e'], {
        ...guard,
        headKeys: thief.headKeys,
      })
      await assert.rejects(stolen, /not made with this/)
      assert.equal(await fixture.store.ledger.append('nobody', ['e'], { ...guard, minEntries: 0 }), null)
      const listed = await fixture.store.ledger.list(organisationId, 0, 10)
      assert.deepEqual(
        listed.map(({ record }) => record),
        [first, 'b', 'c', 'd'],
      )
      assert.equal((await erase(tracker, 'ben')).proof.index, 4)
    })

    it('refuses entries if it is shorter than the journal', async () => {
      const tracker = await fixture.createTracker()
      const mark = testMark(tracker, 'anna', start)
      const guard = (minEntries: number) => ({ ...mark, guard: { ...mark.guard, minEntries } })
      await fixture.store.subjects.erase(tracker, 'anna', guard(0))
      await fixture.store.subjects.erase(tracker, 'anna', guard(1))
      await assert.rejects(
        fixture.store.subjects.erase(tracker, 'anna', guard(3)),
        /has 2 entries, but the journal has 3/,
      )
      assert.equal((await fixture.store.ledger.head(tracker.organisationId))?.frontier.size, 2)
    })

    it('records each of many concurrent erasures in one tree', async () => {
      const tracker = await fixture.createTracker()
      const erasures = await Promise.all(Array.from({ length: 18 }, (_, i) => erase(tracker, `visitor-${i}`)))
      const inOrder = erasures.toSorted((a, b) => a.proof.index - b.proof.index)
      assert.deepEqual(
        inOrder.map(({ proof }) => proof.index),
        erasures.map((_, index) => index),
      )
      const leaves = inOrder.map(({ record }) => Buffer.from(record))
      for (const { proof } of inOrder) {
        const there = leaves.slice(0, proof.head.size)
        assert.deepEqual(proof.path.map(fromBase64), inclusionProof(proof.index, there))
        assert.deepEqual(Buffer.from(proof.head.rootHash), rootOf(there))
      }
      const stored = await fixture.store.ledger.head(tracker.organisationId)
      assert.deepEqual(headAt(stored?.frontier ?? null), { size: 18, rootHash: rootOf(leaves) })
    })
  })

  describe('a tombstone', () => {
    it('is left by every erasure, and is found only by its subject, newest first', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId, trackerId } = tracker
      for (const erasedAt of [start, start + 5]) await erase(tracker, 'anna', erasedAt)
      const [digest] = testKeyring.tombstoneDigests(trackerId, 'anna')
      const found = await findTombstones(tracker, 'anna')
      const expected = [start + 5, start].map((erasedAt, index) => ({
        ...{ organisationId, trackerId, erasedAt, refusedUntil: erasedAt, ledgerIndex: 1 - index },
      }))
      assert.deepEqual(
        found.map(({ digest, ...tombstone }) => tombstone),
        expected,
      )
      for (const tombstone of found) assert.deepEqual(Buffer.from(tombstone.digest), digest)
      assert.deepEqual(await findTombstones(tracker, 'ann'), [])
    })

    it('refuses data up to its instant, lets later data in, and counts what it refused', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const row = (eventId: string, occurredAt: number) =>
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId, occurredAt })
      const rows = [row('e1', start - 1), row('e2', start), row('e3', start + 1)]
      await erase(tracker, 'anna', start)
      assert.deepEqual(await fixture.ingest(rows), {
        ...{ subjects: 1, sessions: 1, events: 1, ofErased: 2 },
      })
      assert.deepEqual(
        (await fixture.listEvents(tracker, 'anna')).map(({ eventId }) => eventId),
        ['e3'],
      )
      // Without the key of that time, no tombstone matches.
      assert.partialDeepStrictEqual(await fixture.store.ingest.ingest(rows, []), { events: 2 })
    })

    it('refuses all deleted data, even if a clock was ahead', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const rows = [eventRow({ trackerId, subjectId: 'anna', eventId: 'e', occurredAt: start + 3_600_000 })]
      await fixture.ingest(rows)
      await erase(tracker, 'anna', start)
      assert.deepEqual(await fixture.ingest(rows), {
        ...{ subjects: 0, sessions: 0, events: 0, ofErased: 1 },
      })
    })

    it('is counted if it has no entry, among those of other organisations', async () => {
      const [tracker, other] = [await fixture.createTracker(), await fixture.createTracker()]
      const { organisationId, trackerId } = tracker
      const { replay, tombstones } = fixture.store
      for (const each of [tracker, other]) await erase(each, 'anna')
      const line = (subjectId: string, index: number) => {
        const [digest] = testKeyring.tombstoneDigests(trackerId, subjectId)
        const entry = { kind: 'erasure', organisationId, index, record: '', at: start } as const
        return { ...entry, tombstone: { trackerId, digest, refusedUntil: start } }
      }
      await replay.addTombstones(organisationId, [line('ben', 4), line('cleo', 7)])
      assert.equal(await tombstones.countWithoutEntry(organisationId), 2)
      assert.equal(await tombstones.countWithoutEntry(other.organisationId), 0)
      const aborted = AbortSignal.abort(new Error('the client is gone'))
      await assert.rejects(tombstones.countWithoutEntry(organisationId, aborted), /the client is gone/)
    })

    it('is swept by age, in steps', async () => {
      const tracker = await fixture.createTracker()
      const long = at('1971-01-01T00:00:00.000Z')
      for (let i = 0; i < 5; i++) await erase(tracker, `old-${i}`, long + i)
      await erase(tracker, 'young')
      let swept = 0
      for (let step = -1; step !== 0; swept += step) {
        step = await fixture.store.tombstones.sweep(long + 4, 2)
      }
      // Tests share the store, so others of the same age may exist.
      assert.ok(swept >= 4)
      for (const [i, count] of [0, 0, 0, 0, 1].entries()) {
        assert.equal((await findTombstones(tracker, `old-${i}`)).length, count)
      }
      assert.equal((await findTombstones(tracker, 'young')).length, 1)
    })
  })

  describe('an import during an erasure of its subject', () => {
    it('leaves no earlier data, in either order', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const races = Array.from({ length: 20 }, async (_, i) => {
        const subjectId = `visitor-${i % 10}`
        const rows = Array.from({ length: 3 }, (_, number) =>
          eventRow({ trackerId, subjectId, eventId: `e${i}-${number}`, occurredAt: start - number }),
        )
        const [added, erased] = await Promise.all([fixture.ingest(rows), erase(tracker, subjectId, start)])
        return { stored: added.events, refused: added.ofErased ?? 0, erased: erased.counts.events }
      })
      const outcomes = await Promise.all(races)
      assert.deepEqual(await fixture.listSubjectIds(tracker), [])
      const sum = (of: 'stored' | 'refused' | 'erased') =>
        outcomes.reduce((total, outcome) => total + outcome[of], 0)
      assert.equal(sum('stored') + sum('refused'), 60)
      assert.equal(sum('erased'), sum('stored'))
    })
  })
}
