import type { Instant } from '../domain/instant.ts'
import { subjectKey } from '../domain/subject.ts'
import type { FoundSubject, Sought } from '../domain/subject-search.ts'
import { asText, type Values } from './nouns/row.ts'

/**
 * Where a page of found subjects ended. Those with an identifier are in the order of their subject keys, in which every engine finds
 * them by its index; those with an id, in that of their trackers.
 */
export function foundPosition(
  sought: Sought,
  ids: (row: Values) => { trackerId: string; subjectId: string },
) {
  const toPosition = ({ trackerId, subjectId }: { trackerId: string; subjectId: string }): string =>
    'subjectId' in sought ? trackerId : Buffer.from(subjectKey(trackerId, subjectId)).toString('hex')
  return {
    ofItem: (found: FoundSubject) => toPosition(found),
    ofRow: (row: Values) => toPosition(ids(row)),
  }
}

/** Whether what brought the identifier by which a subject was found is still to be seen. */
export function isStillBrought(broughtAt: unknown, since: Instant): boolean {
  return typeof broughtAt !== 'number' || broughtAt >= since
}

export function idsAt(trackerColumn: number): (row: Values) => { trackerId: string; subjectId: string } {
  return (row) => ({
    trackerId: asText(row[trackerColumn], 'tracker_id'),
    subjectId: asText(row[0], 'subject_id'),
  })
}
