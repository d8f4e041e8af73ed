import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Problems } from '../../src/domain/errors.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import {
  listEvents,
  listSessions,
  listSubjects,
  planSubjectList,
  readSubject,
  type SubjectListOptions,
} from '../../src/operations/subject.ts'
import { eventRow } from '../support/rows.ts'
import { testKeys } from '../support/test-keyring.ts'
import { addTracker, failure, noon, openDeps } from './fixture.ts'

const { deps, fresh } = openDeps()
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

describe('a query of the list of subjects', () => {
  const first = '2026-11-01T00:00:00Z'
  const second = '2026-11-02T00:00:00+01:00'
  const instantRule = 'an ISO 8601 instant with a time zone, such as 2026-01-31T12:00:00Z'
  const notByLastSeen = 'requires sort=lastSeenAt or sort=-lastSeenAt'
  const notByPrefix = 'subjectIdPrefix requires sort=subjectId, without lastSeenAfter or lastSeenBefore'
  const bad: [what: string, options: SubjectListOptions, fields: Record<string, string>][] = [
    [
      'an invalid bound',
      { lastSeenAfter: 'soon' },
      { lastSeenAfter: `lastSeenAfter must be ${instantRule}` },
    ],
    ['an empty bound', { lastSeenBefore: '' }, { lastSeenBefore: `lastSeenBefore must be ${instantRule}` }],
    [
      'bounds sorted by ID',
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
      'invalid in every field, reported together',
      { lastSeenAfter: 'x', lastSeenBefore: 'y', subjectIdPrefix: 'a', cursor: '!' },
      {
        lastSeenAfter: `lastSeenAfter must be ${instantRule}`,
        lastSeenBefore: `lastSeenBefore must be ${instantRule}`,
        subjectIdPrefix: notByPrefix,
        cursor: wrongCursor,
      },
    ],
    [
      'an invalid bound, sorted by ID: one problem per field',
      { sort: 'subjectId', lastSeenAfter: 'x' },
      { lastSeenAfter: `lastSeenAfter must be ${instantRule}` },
    ],
    ['a damaged cursor', { cursor: 'abc' }, { cursor: wrongCursor }],
    ['an empty cursor', { cursor: '' }, { cursor: wrongCursor }],
  ]
  for (const [what, options, fields] of bad) {
    it(`cannot be ${what}`, () => assert.deepEqual(plan('shop', options).fields, fields))
  }
})

describe('unknown data', () => {
  it('is not found, whether it does not exist or belongs to another organisation', async () => {
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
  it('counts as the first erasure if there was a session without events', async () => {
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
