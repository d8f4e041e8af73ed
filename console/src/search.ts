import { useEffect, useState } from 'preact/hooks'
import { ApiError, change } from './api.ts'
import { cache } from './resource.ts'
import type { FoundGroup, FoundGroups, FoundPerson, FoundSubject } from './types.ts'

export const nobody: FoundGroups = { groups: [], people: [] }

/** Whoever a text may stand for, by tracker, up to some of them on each. What can be nobody is nobody. */
export async function find(text: string, limit: number): Promise<FoundGroups> {
  try {
    return await change<FoundGroups>('/find', { text, limit })
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return nobody
    throw error
  }
}

/** How many were found, on all trackers. */
export function foundSubjects(groups: readonly FoundGroup[]): FoundSubject[] {
  return groups.flatMap(({ subjects }) => subjects)
}

/** How many data subjects of these people the plan hides. */
export function countHidden(people: readonly FoundPerson[]): number {
  return new Set(people.flatMap(({ hidden }) => hidden.map((each) => subjectAddress(each)))).size
}

export function subjectAddress({
  trackerId,
  subjectId,
}: Pick<FoundSubject, 'trackerId' | 'subjectId'>): string {
  return `/console/trackers/${encodeURIComponent(trackerId)}/subjects/${encodeURIComponent(subjectId)}`
}

// Kept here and nowhere else: whom somebody looks for does not belong into an address, a history or a storage.
let sought = ''
let listed = ''
const changed = 'lethe:sought'

/** Remembers whom somebody looks for, until the page is left. An empty text forgets it, with all that was found. */
export function setSearchText(text: string): void {
  sought = text
  if (text === '')
    cache.removeQueries({ predicate: ({ queryKey }) => /^(find|search) /.test(String(queryKey[0])) })
  dispatchEvent(new Event(changed))
}

/** Calls back with whom somebody looks for, whenever that changes. */
export function onSearchText(listen: (text: string) => void): () => void {
  const update = () => listen(sought)
  addEventListener(changed, update)
  return () => removeEventListener(changed, update)
}

/** Whom somebody looks for; an empty text for nobody. */
export function useSearchText(): string {
  const [text, setText] = useState(sought)
  useEffect(() => {
    setText(sought)
    return onSearchText(setText)
  }, [])
  return text
}

/** Hands ids over to the form of a new batch, one a line. */
export function setBatchList(ids: readonly string[]): void {
  listed = ids.join('\n')
}

/** The ids that were handed over, once. */
export function takeBatchList(): string {
  const text = listed
  listed = ''
  return text
}
