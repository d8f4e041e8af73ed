import type { ActivityKind, ActivityNote, Origin } from '../domain/activity.ts'
import { invalidField, notFound } from '../domain/errors.ts'
import { countCharacters } from '../domain/identifier.ts'
import type { Clock } from '../domain/instant.ts'
import { isPrintable, tidyLines } from '../domain/organisation-profile.ts'
import { namesPerson, refKey, type SubjectRef } from '../domain/person.ts'
import type { PrivacyRequest, PrivacyRequestStore } from '../domain/privacy-request.ts'
import type { Randomness } from '../domain/randomness.ts'
import {
  maxExclusionReasonLength,
  maxExclusions,
  maxNoteLength,
  maxNotes,
} from '../domain/request-handling.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { activityNote } from './activity.ts'
import { wrongState } from './change-privacy-request.ts'
import { readRequest, requireRequest } from './privacy-request.ts'
import { namesFound, type RequestSearchDeps, searchRequest } from './search-request.ts'

interface HandlingDeps extends RequestSearchDeps {
  privacyRequests: PrivacyRequestStore
  clock: Clock
  randomness: Randomness
}

// Each throws `not_found`, or `validation_error` on `state` if the request is in another state.

/** Puts a member in charge of a request, or nobody. */
export async function assignRequest(
  deps: HandlingDeps,
  organisationId: string,
  requestId: string,
  memberId: string | null,
  origin: Origin,
): Promise<void> {
  const request = await requireRequest(deps, organisationId, requestId)
  if (request.assigneeId === memberId) return
  const note = noteOf(deps, request, 'request.assigned', origin)
  const outcome = await deps.requestHandling.assign(request, memberId, note)
  if (outcome === 'no-member') throw invalidField('memberId', 'memberId must be a member, or null for nobody')
  if (outcome === 'closed') throw await stateOf(deps, request)
}

export const noteRule = `1 to ${maxNoteLength} characters, no control characters`
export const exclusionReasonRule = `1 to ${maxExclusionReasonLength} characters, no control characters`

/** Until the request is closed. */
export async function addRequestNote(
  deps: HandlingDeps,
  organisationId: string,
  requestId: string,
  typed: string,
  origin: Origin,
): Promise<void> {
  const text = tidyLines(typed)
  if (!isText(text, maxNoteLength)) throw invalidField('text', `text must be ${noteRule}`)
  const request = await requireRequest(deps, organisationId, requestId)
  const added = { id: `note_${deps.randomness.base62(16)}`, at: deps.clock(), by: origin.actor, text }
  const note = noteOf(deps, request, 'request.note-added', origin)
  const outcome = await deps.requestHandling.addNote(request, added, note)
  if (outcome === 'too-many') throw invalidField('text', `a request has at most ${maxNotes} notes`)
  if (outcome === 'closed') throw await stateOf(deps, request)
}

export async function deleteRequestNote(
  deps: HandlingDeps,
  organisationId: string,
  requestId: string,
  noteId: string,
  origin: Origin,
): Promise<void> {
  const request = await requireRequest(deps, organisationId, requestId)
  const note = noteOf(deps, request, 'request.note-deleted', origin)
  if (!(await deps.requestHandling.deleteNote(request, noteId, note))) throw notFound('This note')
}

/**
 * Leaves a subject out of the request. The reason is kept after the request is closed, so it must not contain
 * what identifies the person.
 */
export async function excludeRecord(
  deps: HandlingDeps,
  view: OrganisationView,
  requestId: string,
  subject: SubjectRef,
  typedReason: string,
  origin: Origin,
): Promise<void> {
  const reason = tidyLines(typedReason)
  if (!isText(reason, maxExclusionReasonLength))
    throw invalidField('reason', `reason must be ${exclusionReasonRule}`)
  const request = await requireRequest(deps, view.organisationId, requestId)
  const { person } = request
  if (request.state !== 'open' || person === null) throw wrongState(request)
  const found = await searchRequest(deps, view, { ...request, person })
  const named = { ...person, subjects: [...person.subjects, subject] }
  if (namesPerson(reason, named) || (await namesFound(reason, found)))
    throw invalidField('reason', 'reason must not name the person, because it is kept')
  if (![...found.subjects, ...found.hidden].some((each) => refKey(each) === refKey(subject)))
    throw invalidField('subjectId', 'subjectId must be a record of this request that is not excluded')
  const { trackerId, subjectId } = subject
  const note = noteOf(deps, request, 'request.record-excluded', origin)
  // The console finds the reason of an entry by its instant.
  const excluded = { trackerId, reason, at: note.at, by: origin.actor }
  const digests = deps.keyring.tombstoneDigests(trackerId, subjectId)
  const outcome = await deps.requestHandling.exclude(request, excluded, digests, note)
  if (outcome === 'too-many')
    throw invalidField('subjectId', `at most ${maxExclusions} records of a request can be excluded`)
  if (outcome === 'not-open') throw await stateOf(deps, request)
}

/** Takes an exclusion back. Does nothing if the subject is not excluded. */
export async function includeRecord(
  deps: HandlingDeps,
  { organisationId }: OrganisationView,
  requestId: string,
  { trackerId, subjectId }: SubjectRef,
  origin: Origin,
): Promise<void> {
  const request = await requireRequest(deps, organisationId, requestId)
  const digests = deps.keyring.tombstoneDigests(trackerId, subjectId)
  const note = noteOf(deps, request, 'request.record-included', origin)
  const outcome = await deps.requestHandling.include(request, digests, note)
  if (outcome === 'not-open') throw await stateOf(deps, request)
}

/** Throws `validation_error` on `subjects` if a request no longer finds as many as a member typed. */
export async function confirmSubjects(
  deps: HandlingDeps,
  view: OrganisationView,
  requestId: string,
  typed: number,
): Promise<void> {
  const { state, found } = await readRequest(deps, view, requestId)
  if (state !== 'open' || found.subjects === typed) return
  const now = `${found.subjects} data ${found.subjects === 1 ? 'subject' : 'subjects'}`
  throw invalidField('subjects', `this request now finds ${now}, not ${typed}; nothing was erased`)
}

function isText(text: string, maxLength: number): boolean {
  return text.trim() !== '' && countCharacters(text) <= maxLength && isPrintable(text)
}

/** The error for a request that someone else has started or closed meanwhile. */
async function stateOf(deps: HandlingDeps, { organisationId, id }: PrivacyRequest) {
  return wrongState(await requireRequest(deps, organisationId, id))
}

function noteOf(
  deps: HandlingDeps,
  { organisationId, id }: PrivacyRequest,
  kind: ActivityKind,
  origin: Origin,
): ActivityNote {
  return activityNote(deps, origin, { organisationId, kind, target: id })
}
