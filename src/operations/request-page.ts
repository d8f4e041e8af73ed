import type { ActivityEntry, ActivityStore } from '../domain/activity.ts'
import { type Clock, type Instant, startOfDay } from '../domain/instant.ts'
import type { Member, MemberStore } from '../domain/member.ts'
import { refKey, type SubjectRef } from '../domain/person.ts'
import type { PrivacyRequest, PrivacyRequestStore } from '../domain/privacy-request.ts'
import {
  dueSoonMs,
  type OpenRequestCounts,
  type RequestExclusion,
  type RequestNote,
} from '../domain/request-handling.ts'
import type { FoundSubject, OrganisationView } from '../domain/subject-search.ts'
import { readRequest, requireRequest } from './privacy-request.ts'
import { type RequestSearchDeps, searchRequest } from './search-request.ts'

interface PageDeps extends RequestSearchDeps {
  privacyRequests: PrivacyRequestStore
  activity: ActivityStore
  members: MemberStore
}

/** A request with everything that a member sees on its page, except its records. */
export interface RequestPage {
  request: PrivacyRequest
  /** Whether the ledger has an entry of it. */
  isProven: boolean
  /** `null` if nobody is in charge, or the member was removed. */
  assignee: Member | null
  notes: RequestNote[]
  exclusions: RequestExclusion[]
  /** Other requests of the same person, newest first. */
  earlier: PrivacyRequest[]
  /** The activity about it, oldest first. */
  story: ActivityEntry[]
  /** Whether the story has older entries. */
  hasMoreStory: boolean
}

const maxEarlier = 50
const maxStory = 200

/** Throws `not_found`. */
export async function readRequestPage(
  deps: PageDeps,
  view: OrganisationView,
  requestId: string,
): Promise<RequestPage> {
  const request = await readRequest(deps, view, requestId)
  const { organisationId, assigneeId } = request
  const [isProven, assignee, notes, exclusions, earlier, story] = await Promise.all([
    deps.privacyRequests.hasEntries(request),
    assigneeId === null ? null : deps.members.find(organisationId, assigneeId),
    deps.requestHandling.notes(request),
    deps.requestHandling.exclusions(request),
    othersOfPerson(deps, request),
    deps.activity.ofPrivacyRequest(request, maxStory + 1),
  ])
  const shown = story.slice(0, maxStory).toReversed()
  const hasMoreStory = story.length > maxStory
  return { request, isProven, assignee, notes, exclusions, earlier, story: shown, hasMoreStory }
}

/** Recognised by keyed digests, also after the requests were closed. */
async function othersOfPerson(deps: PageDeps, request: PrivacyRequest): Promise<PrivacyRequest[]> {
  const { organisationId, id, person } = request
  const digests = person
    ? deps.keyring.personDigests(organisationId, person).flat()
    : await deps.requestHandling.personDigests(request)
  const found = await deps.privacyRequests.ofPerson(organisationId, digests, maxEarlier + 1)
  return found.filter((each) => each.id !== id).slice(0, maxEarlier)
}

/** A subject that a request finds, or would find if it were not excluded. */
export interface RequestRecord extends SubjectRef {
  /** `null` if the retention window hides its data. It is erased, but not exported. */
  visible: Pick<FoundSubject, 'firstSeenAt' | 'lastSeenAt' | 'counts'> | null
  exclusion: RequestExclusion | null
}

const recordsPerPage = 100

/** The records of a request that is not closed, by tracker and ID. Empty once it is closed. */
export async function listRequestRecords(
  deps: PageDeps,
  view: OrganisationView,
  requestId: string,
  after: SubjectRef | null,
): Promise<{ records: RequestRecord[]; next: SubjectRef | null }> {
  const request = await requireRequest(deps, view.organisationId, requestId)
  const { person } = request
  if (person === null) return { records: [], next: null }
  const { subjects, hidden, excluded } = await searchRequest(deps, view, { ...request, person })
  const all: RequestRecord[] = [
    ...subjects.map((each) => toRecord(each, each, null)),
    ...hidden.map((each) => toRecord(each, null, null)),
    ...excluded.subjects.map((each) => toRecord(each, each, each.exclusion)),
    ...excluded.hidden.map((each) => toRecord(each, null, each.exclusion)),
  ]
  all.sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1))
  const start = after === null ? 0 : all.findIndex((each) => refKey(each) > refKey(after))
  const records = start === -1 ? [] : all.slice(start, start + recordsPerPage)
  const last = records.at(-1)
  const hasMore = last !== undefined && start + records.length < all.length
  return { records, next: hasMore ? { trackerId: last.trackerId, subjectId: last.subjectId } : null }
}

function toRecord(
  { trackerId, subjectId }: SubjectRef,
  visible: RequestRecord['visible'],
  exclusion: RequestExclusion | null,
): RequestRecord {
  return { trackerId, subjectId, visible, exclusion }
}

/** Those due within a week are not overdue. */
export function countOpenRequests(
  { requestHandling, clock }: Pick<RequestSearchDeps, 'requestHandling'> & { clock: Clock },
  organisationId: string,
  memberId: string,
): Promise<OpenRequestCounts> {
  const now: Instant = clock()
  return requestHandling.countOpen(organisationId, memberId, startOfDay(now), now + dueSoonMs)
}
