import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attributes } from '../../../src/domain/session.ts'
import type { SubjectRecord } from '../../../src/domain/subject.ts'
import type { ExportedEvent, ExportedSession, ExportPart } from '../../../src/domain/subject-export.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { maxSnapshotMs } from '../../../src/storage/rules/export.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import type { Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const subjectId = 'anna'

interface Export {
  record: SubjectRecord | null
  sessions: ExportedSession[]
  events: ExportedEvent[]
}

export function subjectExportContract(fixture: Fixture): void {
  /** The complete export. `onPart` is called with each part before it is added. */
  async function exportOf(
    view: TrackerView,
    onPart: (part: ExportPart) => Promise<unknown> = async () => {},
  ): Promise<Export | null> {
    const all: Export = { record: null, sessions: [], events: [] }
    const take = async (part: ExportPart) => {
      await onPart(part)
      if (part.kind === 'record') all.record = part.record
      else if (part.kind === 'sessions') all.sessions.push(...part.rows)
      else all.events.push(...part.rows)
    }
    const isThere = await fixture.store.exports.subject(view, subjectId, take, async () => {})
    return isThere ? all : null
  }

  async function addMany(count: number, properties: Attributes = {}): Promise<TrackerView> {
    const tracker = await fixture.createTracker()
    const { trackerId } = tracker
    const events = Array.from({ length: count }, (_, i) => {
      const event = { trackerId, subjectId, sessionId: `s${i % 7}`, eventId: `e${i}`, occurredAt: start + i }
      return eventRow({ ...event, properties })
    })
    await fixture.ingest(events)
    return tracker
  }

  describe('an export of a subject', () => {
    it('has its record and all its sessions and events, oldest first, as in lists', async () => {
      const tracker = await addMany(1_300, { url: 'https://shop.example/ä' })
      const { trackerId } = tracker
      const attributes = { country: 'DE' }
      const session = sessionRow({ trackerId, subjectId, sessionId: 's3', startedAt: start - 9, attributes })
      const identifiers = { email: 'ada@example.com' }
      await fixture.ingest([{ ...session, identifiers }])
      const found = await exportOf(tracker)
      assert.deepEqual(found?.record, await fixture.store.subjects.read(tracker, subjectId))
      const sessions = (await fixture.listSessions(tracker, subjectId)).reverse()
      assert.deepEqual(
        found?.sessions.map((each) => ({ ...each, attributes: JSON.parse(each.attributes) })),
        sessions,
      )
      const events = (await fixture.listEvents(tracker, subjectId)).reverse()
      assert.deepEqual(
        found?.events.map((each) => ({ ...each, properties: JSON.parse(each.properties) })),
        events,
      )
    })

    it('is from one snapshot, without holding it while its parts are read slowly', async () => {
      const tracker = await addMany(1_300)
      const { trackerId } = tracker
      const before = await fixture.store.subjects.read(tracker, subjectId)
      let eventParts = 0
      const found = await exportOf(tracker, async ({ kind }) => {
        if (kind !== 'events' || ++eventParts > 1) return
        await delay(maxSnapshotMs + 1)
        const [earlier, later] = [start - 1, start + 9_999]
        const added = [earlier, later].map((occurredAt) =>
          eventRow({ trackerId, subjectId, sessionId: 's1', eventId: `at ${occurredAt}`, occurredAt }),
        )
        await fixture.ingest(added)
      })
      assert.ok(eventParts > 2, `${eventParts} parts`)
      assert.deepEqual(found?.record, before)
      assert.deepEqual(
        found?.events.map(({ eventId }) => eventId),
        Array.from({ length: 1_300 }, (_, i) => `e${i}`),
      )
    })

    it('rejects if the subject is erased before everything was read', async () => {
      for (const when of ['record', 'sessions', 'events']) {
        const tracker = await addMany(1_300)
        let hasErased = false
        const broken = exportOf(tracker, async ({ kind }) => {
          if (kind !== when || hasErased) return
          hasErased = true
          await eraseIn(fixture.store, tracker, subjectId)
          await delay(maxSnapshotMs + 1)
        })
        await assert.rejects(broken, /has changed while it was exported/, when)
        assert.equal(await exportOf(tracker), null)
      }
    })

    it('rejects if the subject changes before all its sessions were read', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const sessionOf = (i: number) =>
        sessionRow({ trackerId, subjectId, sessionId: `s${i}`, startedAt: start + i })
      await fixture.ingest(Array.from({ length: 700 }, (_, i) => sessionOf(i)))
      let parts = 0
      const broken = exportOf(tracker, async ({ kind }) => {
        if (kind !== 'sessions' || ++parts > 1) return
        await fixture.ingest([sessionOf(700)])
        await delay(maxSnapshotMs + 1)
      })
      await assert.rejects(broken, /has changed while it was exported/)
      assert.equal((await exportOf(tracker))?.sessions.length, 701)
    })

    it('has nothing that has aged out', async () => {
      const tracker = await addMany(20)
      const view = { ...tracker, since: start + 15 }
      const found = await exportOf(view)
      assert.deepEqual(found?.record, await fixture.store.subjects.read(view, subjectId))
      assert.deepEqual(
        found?.events.map(({ eventId }) => eventId),
        ['e15', 'e16', 'e17', 'e18', 'e19'],
      )
      const shown = (await fixture.listSessions(view, subjectId)).reverse()
      assert.deepEqual(
        found?.sessions.map(({ sessionId, counts }) => [sessionId, counts]),
        shown.map(({ sessionId, counts }) => [sessionId, counts]),
      )
      assert.equal(await exportOf({ ...tracker, since: start + 20 }), null)
    })

    it('passes over many expired sessions between others, in several snapshots', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const since = start + 10_000
      const sessions = Array.from({ length: 1_500 }, (_, i) =>
        sessionRow({
          ...{ trackerId, subjectId, sessionId: `s${i}`, startedAt: start + i },
          // Every seven-hundredth continues into the window.
          endedAt: i % 700 === 0 ? since + i : start + i,
        }),
      )
      const event = { trackerId, subjectId, sessionId: 's700', eventId: 'e', occurredAt: start + 800 }
      await fixture.ingest([...sessions, eventRow(event)])
      const found = await exportOf({ ...tracker, since }, async ({ kind }) => {
        if (kind === 'sessions') await delay(maxSnapshotMs + 1)
      })
      assert.deepEqual(
        found?.sessions.map(({ sessionId, counts }) => [sessionId, counts.events]),
        [
          ['s0', 0],
          ['s700', 0],
          ['s1400', 0],
        ],
      )
      assert.equal(found?.record?.counts.sessions, 3)
    })

    it('has parts of at most a few mebibytes, however large the rows are', async () => {
      const tracker = await addMany(5, { text: 'x'.repeat(700_000) })
      const sizes: number[] = []
      await exportOf(tracker, async (part) => {
        if (part.kind === 'events')
          sizes.push(part.rows.reduce((sum, { properties }) => sum + properties.length, 0))
      })
      assert.ok(Math.max(...sizes) < 3_000_000, String(sizes))
    })

    it('is null if the tracker is not visible or the subject holds no data', async () => {
      const tracker = await addMany(1)
      assert.equal(await exportOf({ ...tracker, organisationId: 'another' }), null)
      await eraseIn(fixture.store, tracker, subjectId)
      assert.equal(await exportOf(tracker), null)
    })

    it('ends with the error if a part cannot be written', async () => {
      const tracker = await addMany(10)
      const refusal = new Error('enough')
      await assert.rejects(
        exportOf(tracker, () => Promise.reject(refusal)),
        refusal,
      )
      assert.equal((await exportOf(tracker))?.events.length, 10)
    })
  })
}
