import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SubjectQuery, SubjectSummary } from '../../../src/domain/subject.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { at, eventRow } from '../../support/rows.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import { byCodePoints, everySubject, type Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')

/** IDs that careless comparisons, patterns or encodings get wrong. */
const oddIds = [
  ...[
    'a',
    'A',
    'aa',
    'aB',
    'ab',
    'AB',
    'b',
    'z',
    'Z',
    'a b',
    ' a',
    'a ',
    '0',
    '10',
    '9',
    '1e1',
    '-1',
    'null',
  ],
  ...['%', '%%', 'a%', 'a%b', '_', 'a_', 'a_b', 'axb', '*', 'a*', '?', '[a]', '\\', 'a\\', '\\%'],
  ...["'", "''", "a'b", '"', '";--', '`', '/', 'a/b', '...', '+', '&', '='],
  ...[
    'é',
    'e\u0301',
    'ß',
    'ss',
    'ẞ',
    'İ',
    'ı',
    'i',
    'I',
    'ﬀ',
    '\u03a9',
    '\u2126',
    '\u00a0',
    '\u200b',
    '\u2028',
  ],
  ...['\ud7ff', '\ud7ffa', 'a\ud7ff', '\ue000', '\ue000a', 'a\ue000', '\uffff', '\ufffd', '\ufeff'],
  ...[
    '\u{10000}',
    '🦦',
    '🦦🦦',
    'a🦦',
    '\u{1f9a6}\u{fe0f}',
    '\u{10fffe}',
    '\u{10ffff}',
    '\u{10ffff}a',
    'a\u{10ffff}',
  ],
]

export function subjectListContract(fixture: Fixture): void {
  /** A tracker with one event for each ID, at separate or shared instants. */
  async function trackerWith(ids: readonly string[], instantOf: (i: number) => number = (i) => start + i) {
    const tracker = await fixture.createTracker()
    await add(tracker, ids, instantOf)
    return tracker
  }

  async function add(
    tracker: TrackerView,
    ids: readonly string[],
    instantOf: (i: number) => number = (i) => start + i,
  ) {
    await fixture.ingest(
      ids.map((subjectId, i) =>
        eventRow({ trackerId: tracker.trackerId, subjectId, eventId: 'e', occurredAt: instantOf(i) }),
      ),
    )
  }

  describe('the subjects of a tracker', () => {
    it('are none in an empty tracker', async () => {
      const tracker = await fixture.createTracker()
      assert.deepEqual(await fixture.store.subjects.list(tracker, everySubject), { rows: [], next: null })
    })

    it('are null for a tracker that does not exist or is another organisation’s', async () => {
      const tracker = await trackerWith(['anna'])
      const organisationId = await fixture.createOrganisation()
      for (const sort of ['subjectId', 'lastSeenAt', '-lastSeenAt'] as const) {
        const query = { ...everySubject, sort }
        assert.equal(await fixture.store.subjects.list({ ...tracker, organisationId }, query), null)
        assert.equal(await fixture.store.subjects.list({ ...tracker, organisationId: 'nobody' }, query), null)
        assert.equal(await fixture.store.subjects.list({ ...tracker, trackerId: 'nothing' }, query), null)
      }
    })

    it('have the times they were seen, and their counts', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fixture.ingest([
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's1', eventId: 'e1', occurredAt: start }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's2', eventId: 'e2', occurredAt: start + 9 }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's2', eventId: 'e3', occurredAt: start + 5 }),
      ])
      assert.deepEqual(await fixture.store.subjects.list(tracker, everySubject), {
        rows: [
          {
            subjectId: 'anna',
            firstSeenAt: start,
            lastSeenAt: start + 9,
            counts: { sessions: 2, events: 3 },
          },
        ],
        next: null,
      })
    })

    it('are separate from those with the same IDs in other trackers', async () => {
      const [mine, sibling] = [await trackerWith(['anna', 'ben']), await fixture.createTracker()]
      const neighbour = await fixture.createTracker(mine.organisationId)
      await add(sibling, ['anna'], () => start + 100)
      await add(neighbour, ['ben'], () => start + 200)
      assert.deepEqual(await fixture.listSubjectIds(mine), ['anna', 'ben'])
      assert.deepEqual(await fixture.listSubjectIds(sibling), ['anna'])
      assert.deepEqual(await fixture.listSubjectIds(neighbour), ['ben'])
      const [anna] = await fixture.listSubjects(sibling)
      assert.equal(anna?.lastSeenAt, start + 100)
    })
  })

  describe('subjects sorted by id', () => {
    it('are in the order of code points, not of UTF-16 units', async () => {
      const ids = ['\uffff', '\u{10000}', '\ue000', '🦦', 'z', '\ud7ff', '\u{10ffff}', 'Z', 'é']
      const tracker = await trackerWith(ids)
      const expected = ['Z', 'z', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '🦦', '\u{10ffff}']
      assert.notDeepEqual([...ids].sort(), expected)
      assert.deepEqual(await fixture.listSubjectIds(tracker), expected)
    })

    it('are all listed, each once, whatever their IDs', async () => {
      const tracker = await trackerWith(oddIds)
      assert.equal(new Set(oddIds).size, oddIds.length)
      assert.deepEqual(await fixture.listSubjectIds(tracker), [...oddIds].sort(byCodePoints))
    })

    it('can be narrowed to a prefix, taken literally', async () => {
      const tracker = await trackerWith(oddIds)
      const prefixes = [
        ...oddIds,
        '🦦🦦🦦',
        'a🦦a',
        '\u{10ffff}\u{10ffff}',
        '\ud7ff\u{10ffff}',
        'nothing',
        '',
      ]
      for (const prefix of prefixes) {
        const expected = oddIds.filter((id) => id.startsWith(prefix)).sort(byCodePoints)
        const found = await fixture.listSubjectIds(tracker, { subjectIdPrefix: prefix })
        assert.deepEqual(found, expected, JSON.stringify(prefix))
      }
      for (const subjectIdPrefix of ['a', '\ud7ff', '🦦', '\u{10ffff}']) {
        const found = await fixture.listSubjectIds(tracker, { subjectIdPrefix })
        assert.ok(found.length > 1)
        assert.deepEqual(await fixture.listSubjectIds(tracker, { subjectIdPrefix, limit: 1 }), found)
      }
    })

    it('can be narrowed to a prefix of the greatest length', async () => {
      const longest = '🦦'.repeat(256)
      const tracker = await trackerWith([longest, '🦦'.repeat(255), `${'🦦'.repeat(255)}a`])
      assert.deepEqual(await fixture.listSubjectIds(tracker, { subjectIdPrefix: longest }), [longest])
    })
  })

  describe('subjects sorted by when they were last seen', () => {
    // Nine instants for all subjects, so that most share one.
    const instantOf = (i: number) => start + (i % 9) * 1_000
    const summaries = oddIds.map((subjectId, i) => ({ subjectId, lastSeenAt: instantOf(i) }))

    function expected(query: Partial<SubjectQuery>): string[] {
      const { lastSeenAfter = null, lastSeenBefore = null } = query
      const ids = summaries
        .filter(({ lastSeenAt }) => lastSeenAfter === null || lastSeenAt >= lastSeenAfter)
        .filter(({ lastSeenAt }) => lastSeenBefore === null || lastSeenAt < lastSeenBefore)
        .sort((a, b) => a.lastSeenAt - b.lastSeenAt || byCodePoints(a.subjectId, b.subjectId))
        .map(({ subjectId }) => subjectId)
      return query.sort === '-lastSeenAt' ? ids.reverse() : ids
    }

    for (const sort of ['lastSeenAt', '-lastSeenAt'] as const) {
      it(`are in that order, ties by ID (${sort}), within any bounds`, async () => {
        const tracker = await trackerWith(oddIds, instantOf)
        const bounds = [null, start, start + 1, start + 3_000, start + 8_000]
        for (const lastSeenAfter of bounds) {
          for (const lastSeenBefore of bounds) {
            const query = { sort, lastSeenAfter, lastSeenBefore, limit: 30 }
            assert.deepEqual(
              await fixture.listSubjectIds(tracker, query),
              expected(query),
              JSON.stringify(query),
            )
          }
        }
      })
    }

    it('move if they are seen again', async () => {
      const tracker = await trackerWith(['anna', 'ben', 'cleo'])
      const again = eventRow({
        trackerId: tracker.trackerId,
        subjectId: 'anna',
        eventId: 'later',
        occurredAt: start + 50,
      })
      await fixture.ingest([again])
      assert.deepEqual(await fixture.listSubjectIds(tracker, { sort: 'lastSeenAt' }), ['ben', 'cleo', 'anna'])
      assert.deepEqual(await fixture.listSubjectIds(tracker, { sort: '-lastSeenAt' }), [
        'anna',
        'cleo',
        'ben',
      ])
    })
  })

  describe('paging through subjects', () => {
    const many = Array.from({ length: 100 }, (_, i) => `visitor-${i}`)

    it('lists each once, in every sort, with any page size', async () => {
      const tracker = await trackerWith(many, (i) => start + (i % 9))
      const walks: SubjectSummary[][] = []
      for (const sort of ['subjectId', 'lastSeenAt', '-lastSeenAt'] as const) {
        const byLimit = await Promise.all(
          [7, 50].map((limit) => fixture.listSubjects(tracker, { sort, limit })),
        )
        for (const walk of byLimit) assert.deepEqual(walk, byLimit[0])
        walks.push(...byLimit)
      }
      for (const walk of walks) {
        assert.equal(walk.length, many.length)
        assert.deepEqual(new Set(walk.map(({ subjectId }) => subjectId)), new Set(many))
      }
    })

    it('ends with the last full page, without an empty one after it', async () => {
      const tracker = await trackerWith(many.slice(0, 14))
      const first = await fixture.store.subjects.list(tracker, { ...everySubject, limit: 7 })
      assert.equal(first?.rows.length, 7)
      assert.ok(first?.next)
      const second = await fixture.store.subjects.list(tracker, {
        ...everySubject,
        limit: 7,
        after: first.next,
      })
      assert.equal(second?.rows.length, 7)
      assert.equal(second?.next, null)
    })

    it('continues after a subject that no longer exists', async () => {
      const tracker = await trackerWith(['anna', 'ben', 'cleo'])
      for (const sort of ['subjectId', 'lastSeenAt'] as const) {
        const query = { ...everySubject, sort, limit: 1, after: { subjectId: 'b', lastSeenAt: start } }
        assert.equal((await fixture.store.subjects.list(tracker, query))?.rows[0]?.subjectId, 'ben')
      }
    })

    it('is empty, not null, after the end', async () => {
      const tracker = await trackerWith(['anna'])
      const after = { subjectId: '\u{10ffff}', lastSeenAt: Number.MAX_SAFE_INTEGER }
      for (const sort of ['subjectId', 'lastSeenAt'] as const) {
        const page = await fixture.store.subjects.list(tracker, { ...everySubject, sort, after })
        assert.deepEqual(page, { rows: [], next: null })
      }
    })

    it('skips and repeats nobody by ID while others are added and erased', async () => {
      const random = seededRandom()
      const steady = random.shuffle(many).slice(0, 40)
      const guests = many.filter((id) => !steady.includes(id))
      const tracker = await trackerWith(steady)
      const seen: string[] = []
      let after = null
      do {
        const page = await fixture.store.subjects.list(tracker, { ...everySubject, limit: 7, after })
        assert.ok(page)
        seen.push(...page.rows.map(({ subjectId }) => subjectId))
        after = page.next
        await add(
          tracker,
          Array.from({ length: 6 }, () => random.pick(guests)),
        )
        await Promise.all([1, 2, 3].map(() => eraseIn(fixture.store, tracker, random.pick(guests))))
      } while (after !== null)
      const told = `LETHE_TEST_SEED=${random.seed}`
      assert.deepEqual(seen, [...new Set(seen)].sort(byCodePoints), `nobody twice, all in order: ${told}`)
      const missed = steady.filter((id) => !seen.includes(id))
      assert.deepEqual(missed, [], told)
    })
  })
}
