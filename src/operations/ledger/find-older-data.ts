import type { EventQuery, EventStore } from '../../domain/event.ts'
import { earliestInstant, type Instant } from '../../domain/instant.ts'
import type { Keyring } from '../../domain/keyring.ts'
import type { SessionQuery, SessionStore } from '../../domain/session.ts'
import type { SubjectQuery, SubjectStore, SubjectSummary } from '../../domain/subject.ts'
import type { SubjectCounts } from '../../domain/subject-counts.ts'
import type { TombstoneStore } from '../../domain/tombstone.ts'
import type { TrackerStore, TrackerView } from '../../domain/tracker.ts'

/** What is stored of a subject that was erased after it had happened. */
export interface OlderData {
  trackerId: string
  subjectId: string
  refusedUntil: Instant
  counts: SubjectCounts
}

interface FindDeps {
  trackers: TrackerStore
  subjects: SubjectStore
  sessions: SessionStore
  events: EventStore
  tombstones: TombstoneStore
  keyring: Keyring
}

const limit = 200

/** Walks the subjects of every tracker of an organisation that has tombstones. `onSubjects` is told how many, now and then. */
export async function* findOlderData(
  deps: FindDeps,
  organisationId: string,
  onSubjects: (count: number) => void = () => {},
): AsyncGenerator<OlderData, void, undefined> {
  for (const { id: trackerId } of await deps.trackers.list(organisationId)) {
    if (!(await deps.tombstones.has(trackerId))) continue
    const tracker = { organisationId, trackerId, since: earliestInstant }
    for await (const subjects of pagesOfSubjects(deps, tracker)) {
      onSubjects(subjects.length)
      for (const { subjectId, refusedUntil } of await withTombstones(deps, trackerId, subjects)) {
        const counts = await countUntil(deps, tracker, subjectId, refusedUntil)
        if (counts.sessions + counts.events > 0) yield { trackerId, subjectId, refusedUntil, counts }
      }
    }
  }
}

async function* pagesOfSubjects({ subjects }: FindDeps, tracker: TrackerView) {
  const none = { subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore: null }
  const query: SubjectQuery = { sort: 'subjectId', limit, after: null, ...none }
  do {
    const page = await subjects.list(tracker, query)
    if (page === null) return
    yield page.rows
    query.after = page.next
  } while (query.after !== null)
}

/** Those of them that were erased, whoever has come back since among them. */
async function withTombstones(
  { tombstones, keyring }: FindDeps,
  trackerId: string,
  subjects: readonly SubjectSummary[],
): Promise<{ subjectId: string; refusedUntil: Instant }[]> {
  const digests = subjects.flatMap(({ subjectId }) => keyring.tombstoneDigests(trackerId, subjectId))
  const found = await tombstones.refusedUntil(trackerId, digests)
  const each = keyring.tombstoneKeys.length
  return subjects.flatMap(({ subjectId }, i) => {
    const own = found.slice(i * each, (i + 1) * each).filter((until) => until !== null)
    return own.length === 0 ? [] : [{ subjectId, refusedUntil: Math.max(...own) }]
  })
}

/** Looks at everything that the subject has now: one that is erased meanwhile has nothing. */
async function countUntil(
  { sessions, events }: FindDeps,
  tracker: TrackerView,
  subjectId: string,
  until: Instant,
): Promise<SubjectCounts> {
  const counts = { sessions: 0, events: 0 }
  const sessionQuery: SessionQuery = { limit, after: null }
  do {
    const page = await sessions.list(tracker, subjectId, sessionQuery)
    counts.sessions += page?.rows.filter(({ startedAt }) => startedAt <= until).length ?? 0
    sessionQuery.after = page?.next ?? null
  } while (sessionQuery.after !== null)
  const eventQuery: EventQuery = { limit, after: null, sessionId: null }
  do {
    const page = await events.list(tracker, subjectId, eventQuery)
    counts.events += page?.rows.filter(({ occurredAt }) => occurredAt <= until).length ?? 0
    eventQuery.after = page?.next ?? null
  } while (eventQuery.after !== null)
  return counts
}
