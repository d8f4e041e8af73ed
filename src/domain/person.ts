import type { SubjectIdentifier } from './subject-identifier.ts'

/** A subject by its ids alone. */
export interface SubjectRef {
  trackerId: string
  subjectId: string
}

/** Whom an erasure is about: everybody who is known by one of these identifiers, and these subjects. */
export interface Person {
  identifiers: readonly SubjectIdentifier[]
  subjects: readonly SubjectRef[]
}
