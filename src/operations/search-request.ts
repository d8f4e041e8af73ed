import type { Person } from '../domain/person.ts'
import type { PrivacyRequest, RequestCounts } from '../domain/privacy-request.ts'
import type { OrganisationView, SearchStore } from '../domain/subject-search.ts'
import { type FoundPerson, findPerson } from './find-person.ts'

/** A request whose person is still stored. */
export interface PersonRequest extends Pick<PrivacyRequest, 'organisationId' | 'id'> {
  person: Person
}

/** Finds what a request is about. Every search of a request uses this function. */
export function searchRequest(
  deps: { search: SearchStore },
  view: OrganisationView,
  { person }: PersonRequest,
): Promise<FoundPerson> {
  return findPerson(deps, view, person)
}

/** Counts every subject, but only its visible data, as an erasure does. */
export function countFound({ subjects, hidden }: FoundPerson): RequestCounts {
  const found = { subjects: subjects.length + hidden.length, sessions: 0, events: 0 }
  for (const { counts } of subjects) {
    found.sessions += counts.sessions
    found.events += counts.events
  }
  return found
}
