import type { FoundSubject, Identifier } from './api.ts'
import type { SubjectExport } from './subject-export.ts'

/** What to search for in every tracker: an identifier of a person, or the ID of a data subject. */
export type Sought = { identifier: Identifier } | { subjectId: string }

/** One of a person's data subjects and its export. */
export interface PersonExport {
  found: FoundSubject
  export: SubjectExport
}
