/** How much is stored of a subject, or was. */
export interface SubjectCounts {
  sessions: number
  events: number
}
