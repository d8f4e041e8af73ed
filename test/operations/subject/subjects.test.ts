import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Problems } from '../../../src/domain/errors.ts'
import { eraseSubject } from '../../../src/operations/erase-subject.ts'
import {
  listEvents,
  listSessions,
  listSubjects,
  planEventList,
  planSessionList,
  planSubjectList,
  readSubject,
  type SubjectListOptions,
} from '../../../src/operations/subject.ts'
import { eventRow } from '../../support/rows.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { addTracker, failure, noon, openDeps } from '../fixture.ts'

const { deps, fresh, passTime } = openDeps()
const wrongCursor = 'cursor must be the nextCursor of the page before, of the same list, sort and filters'

function plan(trackerId: string, options: SubjectListOptions, problems = new Problems()) {
  const query = planSubjectList(trackerId, options, problems)
  return { query, fields: Object.fromEntries(problems.list().map(({ field, message }) => [field, message])) }
}

/** A tracker in which every subject has three events in three sessions. */
async function trackerOf(...subjectIds: string[]) {
  const tracker = await addTracker(deps(), fresh('tracker'))
  await deps().ingest.ingest(
    subjectIds.flatMap((subjectId, i) =>
      [0, 1, 2].map((n) =>
        eventRow({
          trackerId: tracker.trackerId,
          subjectId,
          sessionId: `s${n}`,
          eventId: `e${n}`,
          occurredAt: noon + i * 10 + n,
        }),
      ),
    ),
    testKeys,
  )
  return tracker
}

describe('what a client asks of the list of subjects', () => {
  const nothing = { limit: 50, after: null, subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore: null }
  const first = '2026-11-01T00:00:00Z'
  const second = '2026-11-02T00:00:00+01:00'
  const [firstInstant, secondInstant] = [Date.parse(first), Date.parse(second)]

  const good: [what: string, options: SubjectListOptions, query: object][] = [
    ['nothing: by id, 50 a page', {}, { ...nothing, sort: 'subjectId' }],
    ['a limit', { limit: 200 }, { ...nothing, sort: 'subjectId', limit: 200 }],
    ['a prefix', { subjectIdPrefix: 'a' }, { ...nothing, sort: 'subjectId', subjectIdPrefix: 'a' }],
    [
      'a prefix and the sort it goes with',
      { subjectIdPrefix: 'a', sort: 'subjectId' },
      { ...nothing, sort: 'subjectId', subjectIdPrefix: 'a' },
    ],
    [
      'a lower bound: by last seen, ascending',
      { lastSeenAfter: first },
      { ...nothing, sort: 'lastSeenAt', lastSeenAfter: firstInstant },
    ],
    [
      'an upper bound: by last seen, ascending',
      { lastSeenBefore: second },
      { ...nothing, sort: 'lastSeenAt', lastSeenBefore: secondInstant },
    ],
    [
      'both bounds, newest first',
      { lastSeenAfter: first, lastSeenBefore: second, sort: '-lastSeenAt' },
      { ...nothing, sort: '-lastSeenAt', lastSeenAfter: firstInstant, lastSeenBefore: secondInstant },
    ],
    ['newest first without bounds', { sort: '-lastSeenAt' }, { ...nothing, sort: '-lastSeenAt' }],
  ]
  for (const [what, options, query] of good) {
    it(`can be ${what}`, () => assert.deepEqual(plan('shop', options), { query, fields: {} }))
  }

  const instantRule = 'an ISO 8601 instant with a time zone, such as 2026-01-31T12:00:00Z'
  const notByLastSeen = 'goes with sort=lastSeenAt or sort=-lastSeenAt, not with sort=subjectId'
  const notByPrefix = 'subjectIdPrefix goes with sort=subjectId and without lastSeenAfter or lastSeenBefore'
  const bad: [what: string, options: SubjectListOptions, fields: Record<string, string>][] = [
    [
      'a bound that is no instant',
      { lastSeenAfter: 'soon' },
      { lastSeenAfter: `lastSeenAfter must be ${instantRule}` },
    ],
    ['an empty bound', { lastSeenBefore: '' }, { lastSeenBefore: `lastSeenBefore must be ${instantRule}` }],
    [
      'bounds sorted by id',
      { sort: 'subjectId', lastSeenAfter: first, lastSeenBefore: second },
      { lastSeenAfter: `lastSeenAfter ${notByLastSeen}`, lastSeenBefore: `lastSeenBefore ${notByLastSeen}` },
    ],
    [
      'a prefix sorted by last seen',
      { sort: 'lastSeenAt', subjectIdPrefix: 'a' },
      { subjectIdPrefix: notByPrefix },
    ],
    [
      'a prefix sorted by newest',
      { sort: '-lastSeenAt', subjectIdPrefix: 'a' },
      { subjectIdPrefix: notByPrefix },
    ],
    [
      'a prefix and a bound',
      { lastSeenAfter: first, subjectIdPrefix: 'a' },
      { subjectIdPrefix: notByPrefix },
    ],
    [
      'everything wrong, all of it told together',
      { lastSeenAfter: 'x', lastSeenBefore: 'y', subjectIdPrefix: 'a', cursor: '!' },
      {
        lastSeenAfter: `lastSeenAfter must be ${instantRule}`,
        lastSeenBefore: `lastSeenBefore must be ${instantRule}`,
        subjectIdPrefix: notByPrefix,
        cursor: wrongCursor,
      },
    ],
    [
      'a bound that is no instant, sorted by id: one problem a field',
      { sort: 'subjectId', lastSeenAfter: 'x' },
      { lastSeenAfter: `lastSeenAfter must be ${instantRule}` },
    ],
    ['a damaged cursor', { cursor: 'abc' }, { cursor: wrongCursor }],
    ['an empty cursor', { cursor: '' }, { cursor: wrongCursor }],
  ]
  for (const [what, options, fields] of bad) {
    it(`cannot be ${what}`, () => assert.deepEqual(plan('shop', options).fields, fields))
  }

  it('adds to problems that were found before', () => {
    const problems = new Problems()
    problems.add('limit', 'limit must be an integer from 1 to 200')
    problems.add('sort', 'sort must be one of …')
    assert.deepEqual(Object.keys(plan('shop', { cursor: '!' }, problems).fields), ['limit', 'sort', 'cursor'])
  })
})

describe('the cursor of a list of subjects', () => {
  it('goes on where the page ended, to the end', async () => {
    const tracker = await trackerOf('a', 'b', 'c')
    for (const sort of ['subjectId', 'lastSeenAt', '-lastSeenAt'] as const) {
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const options: SubjectListOptions = { sort, limit: 1, ...(cursor !== '' && { cursor }) }
        const { query, fields } = plan(tracker.trackerId, options)
        assert.deepEqual(fields, {})
        const page = await listSubjects(deps(), tracker, query)
        seen.push(...page.subjects.map(({ subjectId }) => subjectId))
        cursor = page.nextCursor
      }
      assert.deepEqual(seen, sort === '-lastSeenAt' ? ['c', 'b', 'a'] : ['a', 'b', 'c'])
    }
  })

  it('is good for its own list, sort and filters alone', async () => {
    const tracker = await trackerOf('a1', 'a2', 'a3')
    const { trackerId } = tracker
    const from = '2026-11-01T00:00:00Z'
    const options: SubjectListOptions = { limit: 1, lastSeenAfter: from }
    const { nextCursor } = await listSubjects(deps(), tracker, plan(trackerId, options).query)
    assert.ok(nextCursor)
    const cursor = nextCursor
    const same: SubjectListOptions[] = [
      { ...options, cursor },
      { ...options, cursor, limit: 100 },
      { ...options, cursor, sort: 'lastSeenAt' },
      { ...options, cursor, lastSeenAfter: '2026-11-01T01:00:00.000+01:00' },
    ]
    for (const again of same) assert.deepEqual(plan(trackerId, again).fields, {}, JSON.stringify(again))
    const others: SubjectListOptions[] = [
      { cursor },
      { cursor, sort: 'lastSeenAt' },
      { cursor, sort: '-lastSeenAt', lastSeenAfter: from },
      { cursor, lastSeenAfter: '2026-11-01T00:00:00.001Z' },
      { cursor, lastSeenAfter: from, lastSeenBefore: '2027-01-01T00:00:00Z' },
      { cursor, subjectIdPrefix: 'a' },
    ]
    for (const other of others) {
      assert.deepEqual(plan(trackerId, other).fields, { cursor: wrongCursor }, JSON.stringify(other))
    }
    assert.deepEqual(plan('another', { ...options, cursor }).fields, { cursor: wrongCursor })
  })
})

describe('the sessions and events of a subject', () => {
  it('go on where the page ended, to the end', async () => {
    const tracker = await trackerOf('anna')
    const { trackerId } = tracker
    const problems = new Problems()
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query = planSessionList(
        trackerId,
        'anna',
        { limit: 1, ...(cursor !== '' && { cursor }) },
        problems,
      )
      const page = await listSessions(deps(), tracker, 'anna', query)
      seen.push(...page.sessions.map(({ sessionId }) => sessionId))
      cursor = page.nextCursor
    }
    for (cursor = ''; cursor !== null; ) {
      const query = planEventList(trackerId, 'anna', { limit: 2, ...(cursor !== '' && { cursor }) }, problems)
      const page = await listEvents(deps(), tracker, 'anna', query)
      seen.push(...page.events.map(({ eventId }) => eventId))
      cursor = page.nextCursor
    }
    assert.deepEqual(seen, ['s2', 's1', 's0', 'e2', 'e1', 'e0'])
    assert.deepEqual(problems.list(), [])
  })

  it('have 50 a page unless told otherwise', () => {
    const problems = new Problems()
    assert.deepEqual(planSessionList('shop', 'anna', {}, problems), { limit: 50, after: null })
    assert.deepEqual(planEventList('shop', 'anna', {}, problems), { limit: 50, after: null, sessionId: null })
    assert.deepEqual(planEventList('shop', 'anna', { sessionId: 's' }, problems), {
      limit: 50,
      after: null,
      sessionId: 's',
    })
    assert.deepEqual(problems.list(), [])
  })

  it('have cursors that are good for nothing else', async () => {
    const tracker = await trackerOf('anna', 'ben')
    const { trackerId } = tracker
    const sessions = await listSessions(
      deps(),
      tracker,
      'anna',
      planSessionList(trackerId, 'anna', { limit: 1 }, new Problems()),
    )
    const events = await listEvents(
      deps(),
      tracker,
      'anna',
      planEventList(trackerId, 'anna', { limit: 1 }, new Problems()),
    )
    assert.ok(sessions.nextCursor !== null && events.nextCursor !== null)
    const [ofSessions, ofEvents] = [{ cursor: sessions.nextCursor }, { cursor: events.nextCursor }]
    const attempts: ((problems: Problems) => unknown)[] = [
      (problems) => planSessionList(trackerId, 'anna', ofEvents, problems),
      (problems) => planSessionList(trackerId, 'ben', ofSessions, problems),
      (problems) => planSessionList('another', 'anna', ofSessions, problems),
      (problems) => planEventList(trackerId, 'anna', ofSessions, problems),
      (problems) => planEventList(trackerId, 'ben', ofEvents, problems),
      (problems) => planEventList(trackerId, 'anna', { ...ofEvents, sessionId: 's0' }, problems),
      (problems) => planSubjectList(trackerId, ofEvents, problems),
    ]
    for (const attempt of attempts) {
      const problems = new Problems()
      attempt(problems)
      assert.deepEqual(problems.list(), [{ field: 'cursor', message: wrongCursor }], String(attempt))
    }
  })
})

describe('what is not there', () => {
  it('is not found, whether it does not exist or is another organisation’s', async () => {
    const tracker = await trackerOf('anna')
    const foreign = { ...tracker, organisationId: (await trackerOf()).organisationId }
    const missing = { ...tracker, trackerId: 'nothing' }
    const page = { limit: 10, after: null }
    for (const other of [foreign, missing]) {
      const works = [
        () => listSubjects(deps(), other, plan(other.trackerId, {}).query),
        () => eraseSubject(deps(), other, 'anna'),
        () => readSubject(deps(), other, 'anna'),
        () => listSessions(deps(), other, 'anna', page),
        () => listEvents(deps(), other, 'anna', { ...page, sessionId: null }),
      ]
      const failures = await Promise.all(works.map((work) => failure('not_found', work)))
      const messages = failures.map(({ message }) => message)
      const [theTracker, theSubject] = ['This tracker', 'This data subject'].map(
        (what) => `${what} does not exist, or your organisation cannot see it.`,
      )
      assert.deepEqual(messages, [theTracker, theTracker, theSubject, theSubject, theSubject])
    }
    assert.deepEqual((await readSubject(deps(), tracker, 'anna')).counts, { sessions: 3, events: 3 })
    await failure('not_found', () => readSubject(deps(), tracker, 'nobody'))
  })
})

describe('erasing a subject', () => {
  it('tells what it deleted and when; repeated, that nothing was left', async () => {
    const tracker = await trackerOf('anna')
    passTime(1_000)
    const erase = async (subjectId: string) => {
      const { receipt, ledgerIndex: _, ...told } = await eraseSubject(deps(), tracker, subjectId)
      assert.match(receipt, /^c2sp\.org\/tlog-proof@v1\n/)
      return told
    }
    assert.deepEqual(await erase('anna'), {
      alreadyErased: false,
      counts: { sessions: 3, events: 3 },
      erasedAt: deps().clock(),
    })
    await failure('not_found', () => readSubject(deps(), tracker, 'anna'))
    const nothing = { alreadyErased: true, counts: { sessions: 0, events: 0 }, erasedAt: deps().clock() }
    assert.deepEqual(await erase('anna'), nothing)
    assert.deepEqual(await erase('never seen'), nothing)
  })

  it('is no repetition when there was a session without events', async () => {
    const tracker = await trackerOf()
    const owner = {
      type: 'session' as const,
      trackerId: tracker.trackerId,
      subjectId: 'anna',
      sessionId: 's',
    }
    await deps().ingest.ingest([{ ...owner, startedAt: noon, endedAt: noon, attributes: {} }], testKeys)
    const { alreadyErased, counts } = await eraseSubject(deps(), tracker, 'anna')
    assert.deepEqual({ alreadyErased, counts }, { alreadyErased: false, counts: { sessions: 1, events: 0 } })
  })
})
