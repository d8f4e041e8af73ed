import type { DataCounts, Origin } from '../domain/activity.ts'
import { invalidField, notFound, Problems } from '../domain/errors.ts'
import { isWellFormedText } from '../domain/identifier.ts'
import { addMonths, type Clock, type Instant } from '../domain/instant.ts'
import { namesPerson, type Person } from '../domain/person.ts'
import {
  maxReferenceLength,
  type PrivacyRequest,
  type PrivacyRequestKind,
  type PrivacyRequestStore,
} from '../domain/privacy-request.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { RequestCreation } from '../domain/request-group.ts'
import { comparableValue } from '../domain/subject-identifier.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import type { TrackerStore } from '../domain/tracker.ts'
import { activityNote } from './activity.ts'
import { isPerson, personRule } from './find-person.ts'
import { requireRequest, toRequestId, withFound } from './privacy-request.ts'
import { countFound, namesFound, type RequestSearchDeps, searchRequest } from './search-request.ts'

/** How many months an organisation has to answer, and by how many it may extend that. */
const monthsToAnswer = 1
export const monthsOfExtension = 2

export interface WantedRequest {
  kind: PrivacyRequestKind
  person: Person
  /** `null` for now. */
  receivedAt: Instant | null
  reference: string | null
  /** A UUID, which makes creation safe to repeat; `null` for a new one. */
  requestId: string | null
}

interface CreateDeps extends RequestSearchDeps {
  privacyRequests: PrivacyRequestStore
  trackers: TrackerStore
  clock: Clock
  randomness: Randomness
}

/** One line. */
export const referencePattern = '^[^\\x00-\\x1f\\x7f-\\x9f]+$'
export const referenceRule = `1 to ${maxReferenceLength} characters, no control characters`

const oneLine = new RegExp(referencePattern, 'u')

/** What a schema cannot check. */
export function checkWanted(
  { person, receivedAt, reference }: Pick<WantedRequest, 'person' | 'receivedAt' | 'reference'>,
  now: Instant,
  problems: Problems,
): void {
  if (!isPerson(person)) problems.add('person', `person must name ${personRule}`)
  if (receivedAt !== null && receivedAt > now) problems.add('receivedAt', 'receivedAt must be now or earlier')
  if (reference === null) return
  checkReference(reference, problems)
  if (namesPerson(reference, person)) problems.add('reference', namesThePerson)
}

export const namesThePerson = 'reference must not name the person, because it is kept'

export function checkReference(reference: string, problems: Problems): void {
  if (!isWellFormedText(reference, oneLine, maxReferenceLength) || reference.trim() === '')
    problems.add('reference', `reference must be ${referenceRule}`)
}

/**
 * Creates a request, or returns the one that was created with the same `requestId` and content. Throws
 * `validation_error`.
 */
export async function createRequest(
  deps: CreateDeps,
  view: OrganisationView,
  wanted: WantedRequest,
  origin: Origin,
): Promise<PrivacyRequest> {
  const { organisationId } = view
  const now = deps.clock()
  const problems = new Problems()
  checkWanted(wanted, now, problems)
  problems.throwIfAny()
  const { person } = wanted
  const id = toRequestId(wanted.requestId ?? deps.randomness.uuid())
  const contentDigests = deps.keyring.contentDigests(organisationId, contentOf(wanted))
  const existing = wanted.requestId === null ? null : await deps.privacyRequests.find({ organisationId, id })
  if (existing) return withFound(deps, view, requireSame(existing, contentDigests))
  await requireTrackers(deps, organisationId, person)
  const search = await searchRequest(deps, view, { organisationId, id, person })
  if (wanted.reference !== null && (await namesFound(wanted.reference, search)))
    throw invalidField('reference', namesThePerson)
  const found = countFound(search)
  const created = newRequest(deps, organisationId, { ...wanted, requestId: id, found }, now, origin)
  const { request, digests, note } = created
  const outcome = await deps.privacyRequests.create(request, digests, note)
  if (outcome === 'absent') throw notFound('This organisation')
  return requireSame(await requireRequest(deps, organisationId, id), contentDigests)
}

/** A request to store, which was checked and searched for. */
export function newRequest(
  deps: Pick<CreateDeps, 'keyring' | 'clock' | 'randomness'>,
  organisationId: string,
  wanted: WantedRequest & { requestId: string; found: DataCounts; listLine?: number },
  now: Instant,
  origin: Origin,
): RequestCreation {
  const { kind, person, reference, requestId: id, found, listLine = 0 } = wanted
  const receivedAt = wanted.receivedAt ?? now
  const [contentDigest] = deps.keyring.contentDigests(organisationId, contentOf(wanted))
  // Under every secret, so that it is recognised by requests from before and after a rotation.
  const digests = deps.keyring.personDigests(organisationId, person).flat()
  return {
    request: {
      ...{ organisationId, id, kind, person, reference, receivedAt, found, listLine, contentDigest },
      ...{ dueAt: addMonths(receivedAt, monthsToAnswer), createdAt: now, createdBy: origin.actor },
    },
    digests,
    note: activityNote(deps, origin, { organisationId, kind: 'request.created', target: id }),
  }
}

/**
 * As sent, so that a repetition is the same also when time has passed, but with instants by value and
 * identifiers as they are compared.
 */
function contentOf({ kind, person, receivedAt, reference }: WantedRequest): string {
  const identifiers = person.identifiers.map((each) => [each.name, comparableValue(each)])
  const subjects = person.subjects.map(({ trackerId, subjectId }) => [trackerId, subjectId])
  return JSON.stringify([kind, identifiers, subjects, receivedAt, reference])
}

/** Throws a `validation_error` if a request was created with other content. */
function requireSame(request: PrivacyRequest, contentDigests: readonly string[]): PrivacyRequest {
  if (contentDigests.includes(request.contentDigest)) return request
  throw invalidField('requestId', 'requestId belongs to a request with different content')
}

/** A mistyped tracker must not end in a proof that its data was erased. */
async function requireTrackers(
  { trackers }: Pick<CreateDeps, 'trackers'>,
  organisationId: string,
  { subjects }: Person,
): Promise<void> {
  for (const trackerId of new Set(subjects.map((each) => each.trackerId))) {
    const tracker = await trackers.find(trackerId)
    if (tracker?.organisationId === organisationId) continue
    throw invalidField('person', 'person must name data subjects of trackers of this organisation')
  }
}
