import { change } from './api.ts'
import { formatNumber } from './components/when.tsx'
import { certificateAddress, refreshErasures } from './erasure.ts'
import { cache, forget, refresh } from './resource.ts'
import type { Request, RequestGroup, RequestPage } from './types.ts'

export const requestKinds = { access: 'Access', erasure: 'Erasure' } as const

export function requestAddress(requestId: string): string {
  return `/console/requests/${requestId}`
}

/** The page of all requests with a reference. */
export function groupAddress(reference: string): string {
  return `/console/requests/group?${new URLSearchParams({ reference })}`
}

/** The reference of a request, or the start of its ID. */
export function requestTitle({ reference, requestId }: Pick<Request, 'reference' | 'requestId'>): string {
  return reference ?? `Request ${requestId.slice(0, 8)}`
}

/** The server stops counting there. */
const maxCount = 10_000

export function countInWords(count: number): string {
  return `${formatNumber(count)}${count >= maxCount ? '+' : ''}`
}

export function isClosed({ state }: Pick<Request, 'state'>): boolean {
  return state !== 'open' && state !== 'running'
}

/** How many requests have a reference. */
export function totalOf({ counts }: RequestGroup): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0)
}

/** Sends a change of a request, shows what it has become everywhere, and returns it. */
export function changeRequest(requestId: string, verb: string, body: object = {}): Promise<RequestPage> {
  return showChanged(requestId, change<RequestPage>(`/requests/${requestId}/${verb}`, body))
}

/** Deletes a note of a request. */
export async function deleteNote(requestId: string, noteId: string): Promise<void> {
  const path = `/requests/${requestId}/notes/${noteId}`
  await showChanged(requestId, change<RequestPage>(path, {}, 'DELETE'))
}

async function showChanged(requestId: string, changing: Promise<RequestPage>): Promise<RequestPage> {
  try {
    const page = await changing
    cache.setQueryData([`/requests/${requestId}`], page)
    for (const path of ['/requests', '/request-counts']) void refresh(path)
    return page
  } catch (error) {
    // Somebody else may have changed it.
    void refresh(`/requests/${requestId}`)
    throw error
  }
}

/** Removes from the cache who a closed request was about, and refreshes what its end changes. */
export function forgetPerson(requestId: string): void {
  forget(`/requests/${requestId}/records`)
  // Lists contain who open requests are about.
  cache.removeQueries({
    type: 'inactive',
    predicate: ({ queryKey }) => /^\/requests\?/.test(String(queryKey[0])),
  })
  refreshErasures()
  for (const path of ['/requests', '/request-counts']) void refresh(path)
}

/** The address of the ZIP with everything that is held about the person. */
export function exportAddress(requestId: string): string {
  return `/console/api/requests/${requestId}/export`
}

/** The address of the certificate; `null` if the request is not closed, or proves nothing. */
export function certificateOf({ request, isProven }: RequestPage): string | null {
  return isProven && isClosed(request) ? certificateAddress(request.requestId) : null
}
