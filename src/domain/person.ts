import type { SubjectIdentifier } from './subject-identifier.ts'

export interface SubjectRef {
  trackerId: string
  subjectId: string
}

export function refKey({ trackerId, subjectId }: SubjectRef): string {
  return `${trackerId}\0${subjectId}`
}

/** A person: everyone known by one of these identifiers, and these subjects. */
export interface Person {
  identifiers: readonly SubjectIdentifier[]
  subjects: readonly SubjectRef[]
}
