import assert from 'node:assert/strict'
import type { IncomingRow, IngestResult } from '../../../src/domain/ingest.ts'
import type { MaybePromise } from '../../../src/domain/maybe-promise.ts'
import type { Page } from '../../../src/domain/page.ts'
import type { Event, EventPosition, Session, SessionPosition } from '../../../src/domain/session.ts'
import type { Store } from '../../../src/domain/store.ts'
import type {
  SubjectPosition,
  SubjectQuery,
  SubjectRecord,
  SubjectSummary,
} from '../../../src/domain/subject.ts'
import type { SubjectIdentifier } from '../../../src/domain/subject-identifier.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { always } from '../../support/rows.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { keeping, rememberWindows } from '../../support/windows.ts'

/** Everything that can be read of a subject. */
export interface WholeSubject {
  record: SubjectRecord
  sessions: Session[]
  events: Event[]
}

/** The store that a contract's tests share. Each test works in its own tracker. */
export class Fixture {
  #store: Store | null = null
  #count = 0

  use(store: Store): void {
    this.#store = store
  }

  get store(): Store {
    assert.ok(this.#store, 'the store is open')
    return this.#store
  }

  /**
   * A unique ID. Later IDs sort after earlier ones, which decides the order of rows with the same instant.
   */
  fresh(kind: string): string {
    this.#count += 1
    return `${kind}-${String(this.#count).padStart(6, '0')}`
  }

  async createOrganisation(): Promise<string> {
    const id = this.fresh('organisation')
    assert.equal(await this.store.organisations.create({ id, name: id, plan: 'free', createdAt: 1 }), true)
    await rememberWindows(this.store, keeping(1), id)
    return id
  }

  async createTracker(organisationId?: string): Promise<TrackerView> {
    const owner = organisationId ?? (await this.createOrganisation())
    const id = this.fresh('tracker')
    const tracker = { id, organisationId: owner, name: id, createdAt: 1 }
    assert.equal(await this.store.trackers.create(tracker), true)
    return { organisationId: owner, trackerId: id, since: always }
  }

  ingest(rows: readonly IncomingRow[]): Promise<IngestResult> {
    return this.store.ingest.ingest(rows, testKeys)
  }

  /** All subjects of a tracker, read page by page. */
  async listSubjects(tracker: TrackerView, query: Partial<SubjectQuery> = {}): Promise<SubjectSummary[]> {
    return walk<SubjectSummary, SubjectPosition>((after) =>
      this.store.subjects.list(tracker, { ...everySubject, ...query, after }),
    )
  }

  async listSubjectIds(tracker: TrackerView, query: Partial<SubjectQuery> = {}): Promise<string[]> {
    return (await this.listSubjects(tracker, query)).map(({ subjectId }) => subjectId)
  }

  async listSessions(tracker: TrackerView, subjectId: string, limit = 200): Promise<Session[]> {
    return walk<Session, SessionPosition>((after) =>
      this.store.sessions.list(tracker, subjectId, { limit, after }),
    )
  }

  async listEvents(
    tracker: TrackerView,
    subjectId: string,
    { sessionId = null, limit = 200 }: { sessionId?: string | null; limit?: number } = {},
  ): Promise<Event[]> {
    return walk<Event, EventPosition>((after) =>
      this.store.events.list(tracker, subjectId, { limit, after, sessionId }),
    )
  }

  /** Everything that a tracker's subjects hold, to compare stores. */
  async readAll(tracker: TrackerView, limit = 200): Promise<WholeSubject[]> {
    const subjectIds = await this.listSubjectIds(tracker, { limit })
    return Promise.all(
      subjectIds.map(async (subjectId) => {
        const [record, sessions, events] = await Promise.all([
          this.store.subjects.read(tracker, subjectId),
          this.listSessions(tracker, subjectId, limit),
          this.listEvents(tracker, subjectId, { limit }),
        ])
        assert.ok(record)
        return { record, sessions, events }
      }),
    )
  }
}

/** The first page of all subjects. */
export const everySubject: SubjectQuery = {
  sort: 'subjectId',
  limit: 200,
  after: null,
  subjectIdPrefix: null,
  lastSeenAfter: null,
  lastSeenBefore: null,
}

/** Reads a list to its end. Fails if the list does not exist or does not end, or if a page is too long. */
export async function walk<Row, Position>(
  read: (after: Position | null) => MaybePromise<Page<Row, Position> | null>,
): Promise<Row[]> {
  const rows: Row[] = []
  let after: Position | null = null
  for (let pages = 0; pages < 10_000; pages++) {
    const page: Page<Row, Position> | null = await read(after)
    assert.ok(page, 'the list is there')
    rows.push(...page.rows)
    if (page.next === null) return rows
    assert.ok(page.rows.length > 0, 'a page with more behind it has rows')
    after = page.next
  }
  throw new Error('The list has no end.')
}

/** Whether two identifiers are equal: `email` regardless of case, every other name exactly. */
export function isSameIdentifier(a: SubjectIdentifier, b: SubjectIdentifier): boolean {
  if (a.name !== b.name) return false
  return a.name === 'email' ? a.value.toLowerCase() === b.value.toLowerCase() : a.value === b.value
}

/** Sorts by code points, as every engine must. JavaScript sorts by UTF-16 units. */
export function byCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
