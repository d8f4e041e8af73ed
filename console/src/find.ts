import { ApiError, change } from './api.ts'
import type { FoundGroup, FoundGroups, FoundSubject } from './types.ts'

/** Whoever a text may stand for, by tracker, up to some of them on each. What can be nobody is nobody. */
export async function find(text: string, limit: number): Promise<FoundGroup[]> {
  try {
    return (await change<FoundGroups>('/find', { text, limit })).groups
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return []
    throw error
  }
}

/** How many were found, on all trackers. */
export function foundSubjects(groups: readonly FoundGroup[]): FoundSubject[] {
  return groups.flatMap(({ subjects }) => subjects)
}

export function subjectAddress({
  trackerId,
  subjectId,
}: Pick<FoundSubject, 'trackerId' | 'subjectId'>): string {
  return `/console/trackers/${encodeURIComponent(trackerId)}/subjects/${encodeURIComponent(subjectId)}`
}
