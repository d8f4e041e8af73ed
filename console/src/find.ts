import { ApiError, change } from './api.ts'
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
export function hiddenCount(people: readonly FoundPerson[]): number {
  return new Set(people.flatMap(({ hidden }) => hidden.map((each) => subjectAddress(each)))).size
}

export function subjectAddress({
  trackerId,
  subjectId,
}: Pick<FoundSubject, 'trackerId' | 'subjectId'>): string {
  return `/console/trackers/${encodeURIComponent(trackerId)}/subjects/${encodeURIComponent(subjectId)}`
}
