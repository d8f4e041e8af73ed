import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DataCounts } from '../domain/activity.ts'
import type { Keyring } from '../domain/keyring.ts'
import { namesPerson, type Person, type SubjectRef } from '../domain/person.ts'
import type { PrivacyRequest } from '../domain/privacy-request.ts'
import type { RequestExclusion, RequestHandlingStore } from '../domain/request-handling.ts'
import type { FoundSubject, OrganisationView, SearchStore } from '../domain/subject-search.ts'
import { type FoundPerson, findPerson } from './find-person.ts'

/** A request whose person is still stored. */
interface PersonRequest extends Pick<PrivacyRequest, 'organisationId' | 'id'> {
  person: Person
}

export interface RequestSearchDeps {
  search: SearchStore
  requestHandling: RequestHandlingStore
  keyring: Keyring
}

/** Without the subjects that a member excluded; identifiers that they have still count as held. */
interface FoundRequest extends FoundPerson {
  excluded: { subjects: ExcludedSubject<FoundSubject>[]; hidden: ExcludedSubject<SubjectRef>[] }
}

type ExcludedSubject<Subject extends SubjectRef> = Subject & { exclusion: RequestExclusion }

/** Finds what a request is about. Every search of a request uses this function. */
export async function searchRequest(
  deps: RequestSearchDeps,
  view: OrganisationView,
  { organisationId, id, person }: PersonRequest,
): Promise<FoundRequest> {
  const found = await findPerson(deps, view, person)
  const isExcluded = exclusionOf(deps.keyring, await deps.requestHandling.exclusions({ organisationId, id }))
  const [subjects, excludedSubjects] = separate(found.subjects, isExcluded)
  const [hidden, excludedHidden] = separate(found.hidden, isExcluded)
  const [missing] = separate(found.missing, isExcluded)
  const excluded = { subjects: excludedSubjects, hidden: excludedHidden }
  return { ...found, subjects, hidden, missing, excluded }
}

type FindExclusion = (subject: SubjectRef) => RequestExclusion | undefined

/** Exclusions are kept as digests, under the secret that was current then. */
function exclusionOf(keyring: Keyring, exclusions: readonly RequestExclusion[]): FindExclusion {
  if (exclusions.length === 0) return () => undefined
  const hex = (digest: Uint8Array) => Buffer.from(digest).toString('hex')
  const byDigest = new Map(exclusions.map((each) => [hex(each.digest), each]))
  return ({ trackerId, subjectId }) => {
    const digests = keyring.tombstoneDigests(trackerId, subjectId).map(hex)
    return digests.map((digest) => byDigest.get(digest)).find((each) => each !== undefined)
  }
}

function separate<Subject extends SubjectRef>(
  found: readonly Subject[],
  exclusionOf: FindExclusion,
): [Subject[], ExcludedSubject<Subject>[]] {
  const included: Subject[] = []
  const excluded: ExcludedSubject<Subject>[] = []
  for (const subject of found) {
    const exclusion = exclusionOf(subject)
    if (exclusion) excluded.push({ ...subject, exclusion })
    else included.push(subject)
  }
  return [included, excluded]
}

const namedTogether = 500

/** Whether a text that is kept contains an ID that a search has found. Yields to other requests. */
export function namesFound(text: string, found: FoundRequest): Promise<boolean> {
  const { subjects, hidden, excluded } = found
  return namesSubjects(text, [...subjects, ...hidden, ...excluded.subjects, ...excluded.hidden])
}

/** The same for subjects that were found otherwise. */
export async function namesSubjects(text: string, subjects: readonly SubjectRef[]): Promise<boolean> {
  for (let at = 0; at < subjects.length; at += namedTogether) {
    if (namesPerson(text, { identifiers: [], subjects: subjects.slice(at, at + namedTogether) })) return true
    await nextTurn()
  }
  return false
}

/** Counts every subject, but only its visible data, as an erasure does. */
export function countFound({ subjects, hidden }: FoundPerson): DataCounts {
  const found = { subjects: subjects.length + hidden.length, sessions: 0, events: 0 }
  for (const { counts } of subjects) {
    found.sessions += counts.sessions
    found.events += counts.events
  }
  return found
}

/** Counts what a copy contains: hidden subjects are left out. */
export function countCopied(found: FoundPerson): DataCounts {
  return countFound({ ...found, hidden: [] })
}
