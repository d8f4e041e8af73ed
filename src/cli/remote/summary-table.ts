import type { SubjectSummary } from '@lethe/client'
import { legible } from '../legible.ts'

export const summaryHeadings = ['SUBJECT', 'FIRST SEEN', 'LAST SEEN', 'SESSIONS', 'EVENTS']

/** A subject as a line of a table. */
export function summaryCells({ subjectId, firstSeenAt, lastSeenAt, counts }: SubjectSummary): string[] {
  return [legible(subjectId), firstSeenAt, lastSeenAt, String(counts.sessions), String(counts.events)]
}
