import { change, encode, read } from './api.ts'
import { invalid } from './form.ts'
import { cache, forget, refresh } from './resource.ts'
import { navigate } from './router.tsx'
import { setSearchText } from './search.ts'
import type { RequestPage, SubjectRef } from './types.ts'

/**
 * The address of a certificate: of one ledger entry (counting from 1), of several, or of a request.
 */
export function certificateAddress(of: number | string): string {
  return `/console/erasures/certificates/${typeof of === 'number' ? of + 1 : of}`
}

/**
 * Creates an erasure request for one record and starts it, removes its data from the cache, and replaces the
 * page by that of the request, so that Back leads to no erased record. Safe to repeat with the same ID.
 */
export async function eraseRecord(record: SubjectRef, requestId: string): Promise<void> {
  const person = { identifiers: [], subjects: [record] }
  // The proof of identity comes first: without it, the request would stay open.
  await read('/verification')
  const created = await change<RequestPage>('/requests', { kind: 'erasure', person, requestId })
  const { state, found } = created.request
  const isEmpty = state === 'open' && found.subjects === 0
  if (isEmpty) await change(`/requests/${requestId}/cancel`)
  if (isEmpty || state === 'cancelled') throw invalid('subjects', 'Nothing is stored in this record any more')
  // Otherwise it was started before.
  if (state === 'open') await change(`/requests/${requestId}/erase`, { subjects: found.subjects })
  const { trackerId, subjectId } = record
  forget(`/trackers/${encode(trackerId)}/subjects/${encode(subjectId)}`)
  cache.removeQueries({ predicate: ({ queryKey }) => /^(person|timeline) /.test(String(queryKey[0])) })
  setSearchText('')
  navigate(`/console/requests/${requestId}`, { replace: true })
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
  for (const list of ['/trackers', '/erasures', '/activity', '/requests', '/request-counts'])
    void refresh(list)
}
