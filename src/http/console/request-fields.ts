import type { Origin } from '../../domain/activity.ts'
import { activityKinds } from '../../domain/activity.ts'
import { formatInstant, formatInstantOrNull, type Instant } from '../../domain/instant.ts'
import type { Member } from '../../domain/member.ts'
import {
  requestKinds,
  requestStates,
  type PrivacyRequest as StoredRequest,
} from '../../domain/privacy-request.ts'
import type { RequestExclusion as Exclusion } from '../../domain/request-handling.ts'
import type { Services } from '../../domain/services.ts'
import {
  identifierNamePattern,
  identifierNameRule,
  identifierValuePattern,
  identifierValueRule,
  maxIdentifierValueLength,
} from '../../domain/subject-identifier.ts'
import type { OrganisationView } from '../../domain/subject-search.ts'
import { maxPersonParts } from '../../operations/find-person.ts'
import type { InboxRow } from '../../operations/inbox.ts'
import { type RequestPage as Page, readRequestPage } from '../../operations/request-page.ts'
import { Identifier } from '../api/fields.ts'
import { presentRequest as presentShared } from '../api/requests.ts'
import { originOf, type RequestContext } from '../request-context.ts'
import { organisationView } from '../route.ts'
import { boolean, integer, list, object, oneOf, orNull, text } from '../schema.ts'
import { Actor, instant, SubjectRef, subjectRefFields, wholeCount } from './fields.ts'

/** How much data requests found or erased. */
export const DataCounts = object({ subjects: integer(), sessions: integer(), events: integer() })

/** A request as the API describes it, and what only members see. */
export const Request = object(
  {
    ...{ requestId: text(), kind: oneOf(requestKinds), state: oneOf(requestStates) },
    reference: orNull(text()),
    ...{ receivedAt: instant, dueAt: instant, extendedAt: orNull(instant), closedAt: orNull(instant) },
    reason: orNull(text()),
    person: orNull(object({ identifiers: list(Identifier), subjects: list(SubjectRef) })),
    /** Also after it is closed: otherwise it covers single records only. */
    namesIdentifiers: boolean(),
    ...{ found: DataCounts, erased: DataCounts, left: orNull(integer()), resumesAt: orNull(instant) },
    /** `null` if nobody is in charge, or the member was removed. */
    assignee: orNull(object({ id: text(), email: text() })),
    ...{ createdAt: instant, createdBy: Actor, startedBy: orNull(Actor) },
    /** That its erasure waits for the approval of another member. */
    approval: orNull(object({ askedAt: instant, askedBy: Actor })),
  },
  { title: 'Request' },
)

/** A row of the inbox: a request, or the first of `size` requests with the same reference. */
const RequestRow = object({ request: Request, size: integer() }, { title: 'RequestRow' })

export const RequestList = object(
  { rows: list(RequestRow), nextCursor: orNull(text()) },
  { title: 'RequestList' },
)

const Note = object({ id: text(), at: instant, by: Actor, text: text() }, { title: 'RequestNote' })

const RequestExclusion = object(
  { trackerId: text(), reason: text(), at: instant, by: Actor },
  { title: 'RequestExclusion' },
)

const EarlierRequest = object(
  {
    ...{ requestId: text(), kind: oneOf(requestKinds), state: oneOf(requestStates) },
    ...{ reference: orNull(text()), receivedAt: instant, closedAt: orNull(instant) },
  },
  { title: 'EarlierRequest' },
)

const StoryEntry = object(
  { id: text(), at: instant, by: Actor, kind: oneOf(activityKinds), requestId: orNull(text()) },
  { title: 'StoryEntry' },
)

/** What the page of a request shows, apart from its records. */
export const RequestPage = object(
  {
    request: Request,
    /** Whether the ledger has an entry of it. */
    isProven: boolean(),
    notes: list(Note),
    exclusions: list(RequestExclusion),
    /** Other requests of the same person. */
    earlier: list(EarlierRequest),
    ...{ story: list(StoryEntry), hasMoreStory: boolean() },
  },
  { title: 'RequestPage' },
)

/** Whom a request is about. The operation limits the total number of parts. */
export const personField = object(
  {
    identifiers: list(
      object({
        name: text({ pattern: identifierNamePattern, 'x-rule': identifierNameRule }),
        value: text({
          ...{ minLength: 1, maxLength: maxIdentifierValueLength },
          ...{ pattern: identifierValuePattern, 'x-rule': identifierValueRule },
        }),
      }),
      { maxItems: maxPersonParts },
    ),
    subjects: list(object(subjectRefFields), {
      maxItems: maxPersonParts,
    }),
  },
  { 'x-rule': 'identifiers and data subjects' },
)

/** What a member types to confirm an erasure. */
export const typedSubjects = wholeCount('the number of data subjects to erase')

export function presentRow({ request, assignee, size }: InboxRow) {
  return { request: presentRequest(request, assignee), size }
}

export function presentRequest(request: StoredRequest, assignee: Member | null) {
  const { namesIdentifiers, createdAt, createdBy, startedBy, approval } = request
  return {
    ...presentShared(request),
    namesIdentifiers,
    assignee: assignee && { id: assignee.id, email: assignee.email },
    ...{ createdAt: formatInstant(createdAt), createdBy, startedBy },
    approval: approval && { ...approval, askedAt: formatInstant(approval.askedAt) },
  }
}

interface RequestCall {
  path: { requestId: string }
  services: Services
  context: RequestContext
}

/** Changes the request that the path names, and responds with its page. */
export async function changedPage(
  call: RequestCall,
  change: (view: OrganisationView, requestId: string, origin: Origin) => Promise<unknown>,
) {
  const view = organisationView(call)
  const { requestId } = call.path
  await change(view, requestId, originOf(call.context))
  return presentPage(await readRequestPage(call.services, view, requestId))
}

export function presentPage(page: Page) {
  const { request, isProven, assignee, notes, exclusions, earlier, story, hasMoreStory } = page
  return {
    request: presentRequest(request, assignee),
    isProven,
    notes: notes.map(atInstant),
    exclusions: exclusions.map((each) => ({ trackerId: each.trackerId, ...presentExclusion(each) })),
    earlier: earlier.map(({ id, kind, state, reference, receivedAt, closedAt }) => ({
      ...{ requestId: id, kind, state, reference },
      ...{ receivedAt: formatInstant(receivedAt), closedAt: formatInstantOrNull(closedAt) },
    })),
    story: story.map(({ id, at, actor: by, kind, requestId }) => atInstant({ id, at, by, kind, requestId })),
    hasMoreStory,
  }
}

export function presentExclusion({ reason, at, by }: Exclusion) {
  return { reason, at: formatInstant(at), by }
}

function atInstant<Entry extends { at: Instant }>(entry: Entry) {
  return { ...entry, at: formatInstant(entry.at) }
}
