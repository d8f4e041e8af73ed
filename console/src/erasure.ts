import { change, encode } from './api.ts'
import { cache, forget, refresh } from './resource.ts'
import { navigate } from './router.tsx'
import { setSearchText } from './search.ts'
import type { Batch, FoundSubject, Identifier, SubjectRef } from './types.ts'

/** Whom an erasure is about: whoever has one of these identifiers, and these data subjects. */
export interface Person {
  identifiers: readonly Identifier[]
  subjects: readonly SubjectRef[]
}

/** A data subject by itself. */
export function onlySubject({ trackerId, subjectId }: SubjectRef): Person {
  return { identifiers: [], subjects: [{ trackerId, subjectId }] }
}

/** The address of a certificate: of one entry of the ledger, which people count from 1, of several, or of a batch. */
export function certificateAddress(of: number | string): string {
  return `/console/erasures/certificates/${typeof of === 'number' ? of + 1 : of}`
}

/**
 * Has the service erase a person, drops all that the pages know of them, and leads to the certificate in the place of where one is: the
 * page of whoever is erased is not to be gone back to.
 */
export async function erasePerson(
  person: Person,
  subjects: readonly Pick<FoundSubject, 'trackerId' | 'subjectId'>[],
): Promise<void> {
  const { id } = await change<Batch>('/people/erase', { person, subjects: subjects.length })
  for (const { trackerId, subjectId } of subjects)
    forget(`/trackers/${encode(trackerId)}/subjects/${encode(subjectId)}`)
  setSearchText('')
  navigate(certificateAddress(id), { replace: true })
  refreshErasures()
}

/** Has the pages look again at whatever an erasure changes. What they knew of data subjects must not be shown until then. */
export function refreshErasures(): void {
  cache.removeQueries({
    type: 'inactive',
    predicate: ({ queryKey }) => /^(find |search |\/trackers\/[^/]+\/subjects)/.test(String(queryKey[0])),
  })
  for (const list of ['/trackers', '/erasures', '/people', '/activity']) void refresh(list)
}
