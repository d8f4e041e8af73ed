import { useEffect, useState } from 'preact/hooks'
import { ApiError, change } from './api.ts'
import { cache } from './resource.ts'
import type { FoundGroup, FoundGroups, FoundPerson, FoundSubject } from './types.ts'

export const noResults: FoundGroups = { groups: [], people: [] }

/**
 * The data subjects that match a text, by tracker, up to a limit on each. A text that cannot match gives no
 * results.
 */
export async function searchPeople(text: string, limit: number): Promise<FoundGroups> {
  try {
    return await change<FoundGroups>('/find', { text, limit })
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return noResults
    throw error
  }
}

/** The data subjects on all trackers. */
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

// Only in memory: a search text is personal data, and belongs in no URL, history or storage.
let searchText = ''
let erasureList = ''
const changed = 'lethe:search-text'

/** Sets the search text. An empty text also removes all results from the cache. */
export function setSearchText(text: string): void {
  searchText = text
  if (text === '')
    cache.removeQueries({ predicate: ({ queryKey }) => /^(find|search) /.test(String(queryKey[0])) })
  dispatchEvent(new Event(changed))
}

/** Calls back with the search text whenever it changes. */
export function onSearchText(listen: (text: string) => void): () => void {
  const update = () => listen(searchText)
  addEventListener(changed, update)
  return () => removeEventListener(changed, update)
}

/** The current search text. */
export function useSearchText(): string {
  const [text, setText] = useState(searchText)
  useEffect(() => {
    setText(searchText)
    return onSearchText(setText)
  }, [])
  return text
}

/** Passes IDs to the form that erases a list, one per line. */
export function setErasureList(ids: readonly string[]): void {
  erasureList = ids.join('\n')
}

/** Takes the IDs that were passed, once. */
export function takeErasureList(): string {
  const text = erasureList
  erasureList = ''
  return text
}
