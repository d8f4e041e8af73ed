import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IncomingRow, PackedBatch } from '../../../src/domain/ingest.ts'
import type { Attributes } from '../../../src/domain/session.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { byCodePoints, type Fixture, isSameIdentifier, type WholeSubject } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const minute = 60_000

export function ingestContract(fixture: Fixture): void {
  describe('a batch', () => {
    it('returns what it added, and adds nothing the second time', async () => {
      const { trackerId } = await fixture.createTracker()
      const rows = [
        sessionRow({ trackerId, subjectId: 'anna', sessionId: 's1' }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's1', eventId: 'e1' }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's2', eventId: 'e2' }),
        eventRow({ trackerId, subjectId: 'ben', sessionId: 's1', eventId: 'e1' }),
      ]
      assert.deepEqual(await fixture.ingest(rows), {
        subjects: 2,
        sessions: 3,
        events: 3,
      })
      assert.deepEqual(await fixture.ingest(rows), {
        subjects: 0,
        sessions: 0,
        events: 0,
        unchanged: 4,
      })
    })

    it('returns how many rows were already stored unchanged', async () => {
      const { trackerId } = await fixture.createTracker()
      const session = sessionRow({ trackerId, subjectId: 'anna', sessionId: 's1', startedAt: start })
      const event = eventRow({
        trackerId,
        subjectId: 'anna',
        sessionId: 's1',
        eventId: 'e1',
        occurredAt: start,
      })
      await fixture.ingest([session, event])
      const longer = { ...session, endedAt: session.endedAt + minute }
      const added = await fixture.ingest([longer, session, event, { ...event, eventId: 'e2' }])
      assert.deepEqual(added, { subjects: 0, sessions: 0, events: 1, unchanged: 2 })
    })

    it('counts a repeated row once', async () => {
      const { trackerId } = await fixture.createTracker()
      const event = eventRow({ trackerId, subjectId: 'anna', eventId: 'e1' })
      const session = sessionRow({ trackerId, subjectId: 'anna', sessionId: 'session' })
      const added = await fixture.ingest([event, session, event, session])
      assert.deepEqual(added, { subjects: 1, sessions: 1, events: 1, unchanged: 1 })
    })

    it('can be empty', async () => {
      assert.deepEqual(await fixture.ingest([]), {
        subjects: 0,
        sessions: 0,
        events: 0,
      })
    })

    it('is stored completely or not at all', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const rows = [
        ...['anna', 'ben', 'cleo'].map((subjectId) => eventRow({ trackerId, subjectId, eventId: 'e1' })),
        // No engine can store such an instant.
        eventRow({ trackerId, subjectId: 'dan', eventId: 'e1', occurredAt: 2 ** 70 }),
        ...['emil', 'fay'].map((subjectId) => eventRow({ trackerId, subjectId, eventId: 'e1' })),
      ]
      await assert.rejects(fixture.ingest(rows))
      assert.deepEqual(await fixture.listSubjectIds(tracker), [])
      const good = rows.filter(({ subjectId }) => subjectId !== 'dan')
      assert.deepEqual(await fixture.ingest(good), {
        subjects: 5,
        sessions: 5,
        events: 5,
      })
    })

    it('leaves out rows of an unknown tracker, and returns how many', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const added = await fixture.ingest([
        eventRow({ trackerId: 'nothing', subjectId: 'anna', eventId: 'e1' }),
        eventRow({ trackerId, subjectId: 'anna', eventId: 'e1' }),
        sessionRow({ trackerId: 'nothing', subjectId: 'ben', sessionId: 's' }),
      ])
      const refused = [{ trackerId: 'nothing', rows: 2 }]
      assert.deepEqual(added, { subjects: 1, sessions: 1, events: 1, refused })
      assert.deepEqual(await fixture.listSubjectIds(tracker), ['anna'])
    })

    it('can have rows of several trackers', async () => {
      const trackers = [await fixture.createTracker(), await fixture.createTracker()]
      const added = await fixture.ingest(
        trackers.map(({ trackerId }) => eventRow({ trackerId, subjectId: 'anna', eventId: 'e1' })),
      )
      assert.deepEqual(added, { subjects: 2, sessions: 2, events: 2 })
      for (const tracker of trackers) assert.deepEqual(await fixture.listSubjectIds(tracker), ['anna'])
    })
  })

  describe('several batches', () => {
    /** Packs rows as a batch, in pieces of a hundred. */
    function packed(rows: readonly IncomingRow[]): PackedBatch {
      const pieces: ArrayBuffer[] = []
      for (let from = 0; from < rows.length; from += 100)
        pieces.push(fixture.store.ingest.pack(rows.slice(from, from + 100)))
      return { pieces, rows: rows.length }
    }

    it('are stored in order, each with its own result', async () => {
      const { trackerId } = await fixture.createTracker()
      const row = (eventId: string) => eventRow({ trackerId, subjectId: 'anna', eventId })
      const elsewhere = eventRow({ trackerId: 'nothing', subjectId: 'ben', eventId: 'e1' })
      const batches = [[row('e1')], [], [row('e1'), row('e2')], [elsewhere]]
      const none = { subjects: 0, sessions: 0, events: 0 }
      assert.deepEqual(await fixture.store.ingest.ingestAll(batches.map(packed), testKeys), [
        { subjects: 1, sessions: 1, events: 1 },
        none,
        { ...none, events: 1, unchanged: 1 },
        { ...none, refused: [{ trackerId: 'nothing', rows: 1 }] },
      ])
    })

    it('may be larger than what is stored in one step', async () => {
      const { trackerId } = await fixture.createTracker()
      const rows = Array.from({ length: 4_100 }, (_, n) =>
        eventRow({ trackerId, subjectId: `s${(n % 4_000) % 7}`, eventId: `e${n % 4_000}` }),
      )
      const elsewhere = rows.slice(0, 2_100).map((row) => ({ ...row, trackerId: 'nothing' }))
      assert.deepEqual(await fixture.store.ingest.ingestAll([rows, elsewhere].map(packed), testKeys), [
        { subjects: 7, sessions: 7, events: 4_000, unchanged: 100 },
        { subjects: 0, sessions: 0, events: 0, refused: [{ trackerId: 'nothing', rows: 2_100 }] },
      ])
    })

    it('are stored completely or not at all', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const good = eventRow({ trackerId, subjectId: 'anna', eventId: 'e1' })
      // No engine can store such an instant.
      const bad = eventRow({ trackerId, subjectId: 'ben', eventId: 'e1', occurredAt: 2 ** 70 })
      const batches = [[good], [bad]].map(packed)
      await assert.rejects(fixture.store.ingest.ingestAll(batches, testKeys))
      assert.deepEqual(await fixture.listSubjectIds(tracker), [])
      // A queue then tries each batch on its own.
      await fixture.store.ingest.ingestAll(batches.slice(0, 1), testKeys)
      assert.deepEqual(await fixture.listSubjectIds(tracker), ['anna'])
    })
  })

  describe('refused lines', () => {
    it('are counted for each reason, by several processes at the same time', async () => {
      const { ingest } = fixture.store
      const before = await ingest.refusedLines()
      const refused = { bad: 1, of_erased: 0, too_old: 3 }
      await Promise.all(Array.from({ length: 20 }, () => ingest.countRefused(refused)))
      assert.deepEqual(await ingest.refusedLines(), {
        bad: before.bad + 20,
        of_erased: before.of_erased,
        too_old: before.too_old + 60,
      })
    })
  })

  describe('an event', () => {
    it('of an unknown session opens it', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fixture.ingest([
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e2', occurredAt: start + 2 }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e1', occurredAt: start + 1 }),
      ])
      assert.deepEqual(await fixture.listSessions(tracker, 'anna'), [
        { sessionId: 's', startedAt: start + 1, endedAt: start + 2, counts: { events: 2 }, attributes: {} },
      ])
    })

    it('is identified by its ID and its instant', async () => {
      const tracker = await fixture.createTracker()
      const event = eventRow({ trackerId: tracker.trackerId, subjectId: 'anna', eventId: 'same' })
      const added = await fixture.ingest([event, { ...event, occurredAt: event.occurredAt + 1 }])
      assert.equal(added.events, 2)
      assert.equal((await fixture.listEvents(tracker, 'anna')).length, 2)
    })

    it('extends the span of its session and its subject', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fixture.ingest([
        sessionRow({ trackerId, subjectId: 'anna', sessionId: 's', startedAt: start, endedAt: start + 10 }),
      ])
      for (const occurredAt of [start - 5, start + 20]) {
        const event = eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e', occurredAt })
        await fixture.ingest([event])
      }
      const [session] = await fixture.listSessions(tracker, 'anna')
      assert.deepEqual([session?.startedAt, session?.endedAt], [start - 5, start + 20])
      const record = await fixture.store.subjects.read(tracker, 'anna')
      assert.deepEqual([record?.firstSeenAt, record?.lastSeenAt], [start - 5, start + 20])
    })

    it('within its session does not change the span', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fixture.ingest([
        sessionRow({ trackerId, subjectId: 'anna', sessionId: 's', startedAt: start, endedAt: start + 10 }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e', occurredAt: start + 5 }),
      ])
      const [session] = await fixture.listSessions(tracker, 'anna')
      assert.deepEqual([session?.startedAt, session?.endedAt], [start, start + 10])
    })

    it('keeps its properties unchanged', async () => {
      const tracker = await fixture.createTracker()
      const properties: Attributes = JSON.parse(
        `{"text":"\\u0000 \\ud800 🦦 'quoted' \\"twice\\"","number":0.1,"big":1e300,"none":null,"list":[1,[2,{}]],
          "__proto__":{"a":1},"":"empty name","nested":{"a":{"b":true}}}`,
      )
      const event = eventRow({ trackerId: tracker.trackerId, subjectId: 'anna', eventId: 'e', properties })
      await fixture.ingest([event])
      const [stored] = await fixture.listEvents(tracker, 'anna')
      assert.equal(JSON.stringify(stored?.properties), JSON.stringify(properties))
    })
  })

  describe('a session', () => {
    it('that is ingested again spans all its rows', async () => {
      const tracker = await fixture.createTracker()
      const say = (startedAt: number, endedAt: number) =>
        fixture.ingest([
          sessionRow({
            trackerId: tracker.trackerId,
            subjectId: 'anna',
            sessionId: 's',
            startedAt,
            endedAt,
          }),
        ])
      await say(start + 10, start + 20)
      await say(start + 15, start + 30)
      await say(start, start + 12)
      const [session, ...others] = await fixture.listSessions(tracker, 'anna')
      assert.deepEqual(others, [])
      assert.deepEqual([session?.startedAt, session?.endedAt], [start, start + 30])
    })

    it('has the attributes of the row with the latest end', async () => {
      const tracker = await fixture.createTracker()
      const say = (endedAt: number, country: string) =>
        fixture.ingest([
          sessionRow({
            trackerId: tracker.trackerId,
            subjectId: 'anna',
            sessionId: 's',
            startedAt: start,
            endedAt,
            attributes: { country },
          }),
        ])
      await say(start + 20, 'DE')
      await say(start + 10, 'FR')
      assert.deepEqual((await fixture.store.subjects.read(tracker, 'anna'))?.attributes, { country: 'DE' })
      await say(start + 30, 'AT')
      assert.deepEqual((await fixture.store.subjects.read(tracker, 'anna'))?.attributes, { country: 'AT' })
    })

    it('has the same attributes for any order of rows with the same end', async () => {
      const known: unknown[] = []
      for (const countries of [
        ['DE', 'FR'],
        ['FR', 'DE'],
      ]) {
        for (const batchSize of [1, 2]) {
          const tracker = await fixture.createTracker()
          const { trackerId } = tracker
          const rows = countries.map((country) =>
            sessionRow({ trackerId, subjectId: 'anna', sessionId: 's', attributes: { country } }),
          )
          for (let next = 0; next < rows.length; next += batchSize) {
            await fixture.ingest(rows.slice(next, next + batchSize))
          }
          known.push((await fixture.store.subjects.read(tracker, 'anna'))?.attributes)
        }
      }
      for (const attributes of known) assert.deepEqual(attributes, known[0])
    })

    it('keeps the attributes that say more, of rows with the same end', async () => {
      const few = { language: 'de' }
      const more = { ...few, source: 'newsletter' }
      for (const order of [
        [few, more],
        [more, few],
      ]) {
        const tracker = await fixture.createTracker()
        for (const attributes of order) {
          const session = { trackerId: tracker.trackerId, subjectId: 'anna', sessionId: 's', attributes }
          await fixture.ingest([sessionRow(session)])
        }
        assert.deepEqual((await fixture.store.subjects.read(tracker, 'anna'))?.attributes, more)
      }
    })

    it('takes its attributes from a session row, even if an event is later', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const attributes = { country: 'DE' }
      const rows = [
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e', occurredAt: start + 99 }),
        sessionRow({
          trackerId,
          subjectId: 'anna',
          sessionId: 's',
          startedAt: start,
          endedAt: start,
          attributes,
        }),
      ]
      for (const row of rows) await fixture.ingest([row])
      const [session] = await fixture.listSessions(tracker, 'anna')
      assert.deepEqual(session?.attributes, attributes)
      assert.equal(session?.endedAt, start + 99)
    })
  })

  describe('rows in any order and in any batches', () => {
    it('give the expected state', async () => {
      const random = seededRandom()
      const rows = visits(random)
      const expected = model(rows)
      for (let round = 0; round < 2; round++) {
        const tracker = await fixture.createTracker()
        const shuffled = random.shuffle(rows).map((row) => ({ ...row, trackerId: tracker.trackerId }))
        const added = { subjects: 0, sessions: 0, events: 0 }
        for (let next = 0; next < shuffled.length; ) {
          const size = round === 0 ? shuffled.length : 1 + random.integer(25)
          // Batches overlap, like those of an import that was interrupted and restarted.
          const batch = shuffled.slice(Math.max(0, next - random.integer(10)), next + size)
          const counts = await fixture.ingest(batch)
          added.subjects += counts.subjects
          added.sessions += counts.sessions
          added.events += counts.events
          next += size
        }
        const seen = `LETHE_TEST_SEED=${random.seed}, round ${round}`
        assert.deepEqual(await fixture.readAll(tracker), expected, seen)
        assert.deepEqual(added, totals(expected), seen)
      }
    })
  })
}

/** Rows of a few subjects that overlap and repeat in every allowed way. */
function visits(random: SeededRandom): IncomingRow[] {
  const rows: IncomingRow[] = []
  const moment = () => start + random.integer(30) * minute
  const subjectIds = ['anna', 'ben', '🦦', '\uffff', 'Anna']
  for (let i = 0; i < 60; i++) {
    const startedAt = moment()
    // Few different ends, so that several rows of a session share one.
    const endedAt = start + (30 + random.integer(4)) * minute
    const attributes = { country: random.pick(['DE', 'FR', 'AT']), visit: random.integer(3) }
    const sessionId = `s${random.integer(6)}`
    const subjectId = random.pick(subjectIds)
    const said = { startedAt, endedAt, attributes, ...someIdentifiers(random) }
    rows.push(sessionRow({ subjectId, sessionId, ...said }))
  }
  for (let i = 0; i < 140; i++) {
    // The ID of an event determines its content, except the instant.
    const number = random.integer(40)
    const content = { name: `n${number % 3}`, sessionId: `s${number % 8}`, properties: { number } }
    const fields = { ...content, ...someIdentifiers(random) }
    const subjectId = random.pick(subjectIds)
    rows.push(eventRow({ subjectId, eventId: `e${number}`, occurredAt: moment(), ...fields }))
  }
  return rows
}

/** Random identifiers for a row, or none. */
export function someIdentifiers(random: SeededRandom): Pick<IncomingRow, 'identifiers'> {
  if (random.integer(3) > 0) return {}
  const email = random.pick(['ada@example.com', 'Ada@Example.com', 'ADA@EXAMPLE.COM', 'ådå@example.com'])
  return {
    identifiers: random.pick([{ email }, { userId: '42' }, { email, userId: random.pick(['a', 'A']) }]),
  }
}

/** The expected state after these rows, computed without a store. */
function model(rows: readonly IncomingRow[]): WholeSubject[] {
  const subjectIds = [...new Set(rows.map((row) => row.subjectId))].sort(byCodePoints)
  return subjectIds.map((subjectId) => {
    const own = rows.filter((row) => row.subjectId === subjectId)
    const events = own
      .filter((row) => row.type === 'event')
      .map(({ eventId, sessionId, name, occurredAt, properties }) => ({
        eventId,
        sessionId,
        name,
        occurredAt,
        properties,
      }))
      .filter((event, i, all) => all.findIndex((other) => isSameEvent(event, other)) === i)
      .sort((a, b) => b.occurredAt - a.occurredAt || byCodePoints(b.eventId, a.eventId))
    const sessions = [...new Set(own.map((row) => row.sessionId))]
      .map((sessionId) =>
        modelSession(sessionId, own, events.filter((event) => event.sessionId === sessionId).length),
      )
      .sort((a, b) => b.startedAt - a.startedAt || byCodePoints(b.sessionId, a.sessionId))
    const record = {
      subjectId,
      firstSeenAt: Math.min(...sessions.map((session) => session.startedAt)),
      lastSeenAt: Math.max(...sessions.map((session) => session.endedAt)),
      counts: { sessions: sessions.length, events: events.length },
      identifiers: modelIdentifiers(own),
      attributes: sessions[0]?.attributes ?? {},
    }
    return { record, sessions, events }
  })
}

function modelSession(sessionId: string, own: readonly IncomingRow[], events: number) {
  const said = own.filter((row) => row.sessionId === sessionId)
  const starts = said.map((row) => (row.type === 'session' ? row.startedAt : row.occurredAt))
  const ends = said.map((row) => (row.type === 'session' ? row.endedAt : row.occurredAt))
  const textOf = (row: IncomingRow) => JSON.stringify(row.type === 'session' && row.attributes)
  const [newest] = said
    .filter((row) => row.type === 'session')
    .sort(
      (a, b) =>
        b.endedAt - a.endedAt || textOf(b).length - textOf(a).length || (textOf(b) > textOf(a) ? 1 : -1),
    )
  return {
    sessionId,
    startedAt: Math.min(...starts),
    endedAt: Math.max(...ends),
    counts: { events },
    attributes: newest?.attributes ?? {},
  }
}

/** Each identifier as the newest row wrote it. */
function modelIdentifiers(own: readonly IncomingRow[]) {
  const brought = own.flatMap((row) =>
    Object.entries(row.identifiers ?? {}).map(([name, value]) => ({
      ...{ name, value, at: row.type === 'session' ? row.endedAt : row.occurredAt },
    })),
  )
  brought.sort((a, b) => b.at - a.at || byCodePoints(b.value, a.value))
  return brought
    .filter((each, i) => brought.findIndex((other) => isSameIdentifier(each, other)) === i)
    .map(({ name, value }) => ({ name, value }))
    .sort((a, b) => byCodePoints(a.name, b.name) || byCodePoints(a.value, b.value))
}

function isSameEvent(a: { eventId: string; occurredAt: number }, b: { eventId: string; occurredAt: number }) {
  return a.eventId === b.eventId && a.occurredAt === b.occurredAt
}

function totals(subjects: readonly WholeSubject[]) {
  return {
    subjects: subjects.length,
    sessions: subjects.reduce((sum, { sessions }) => sum + sessions.length, 0),
    events: subjects.reduce((sum, { events }) => sum + events.length, 0),
  }
}
