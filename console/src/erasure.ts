import { change, encode } from './api.ts'
import type { Person } from './person.ts'
import { cache, forget, refresh } from './resource.ts'
import { navigate } from './router.tsx'
import { setSearchText } from './search.ts'
import type { Batch, FoundSubject, SubjectRef } from './types.ts'

/** A person that is a single data subject. */
export function onlySubject({ trackerId, subjectId }: SubjectRef): Person {
  return { identifiers: [], subjects: [{ trackerId, subjectId }] }
}

/**
 * The address of a certificate: of a ledger entry (shown counting from 1), of several entries, or of a batch.
 */
export function certificateAddress(of: number | string): string {
  return `/console/erasures/certificates/${typeof of === 'number' ? of + 1 : of}`
}

/**
 * Starts the erasure of a person, removes their data from the cache, and replaces the page by the
 * certificate, so that Back does not lead to the page of an erased person.
 */
export async function erasePerson(
  person: Person,
  subjects: readonly Pick<FoundSubject, 'trackerId' | 'subjectId'>[],
): Promise<void> {
  const { id } = await change<Batch>('/people/erase', { person, subjects: subjects.length })
  for (const { trackerId, subjectId } of subjects)
    forget(`/trackers/${encode(trackerId)}/subjects/${encode(subjectId)}`)
  cache.removeQueries({ predicate: ({ queryKey }) => /^(person|timeline) /.test(String(queryKey[0])) })
  setSearchText('')
  navigate(certificateAddress(id), { replace: true })
  refreshErasures()
}

/**
 * Refreshes everything an erasure changes, and removes data subjects from the cache so that no erased one is
 * shown.
 */
export function refreshErasures(): void {
  cache.removeQueries({
    type: 'inactive',
    predicate: ({ queryKey }) =>
      /^(find |search |person |timeline |\/trackers\/[^/]+\/subjects)/.test(String(queryKey[0])),
  })
  for (const list of ['/trackers', '/erasures', '/people', '/activity']) void refresh(list)
}
