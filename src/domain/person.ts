import { reveals } from './reveals.ts'
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

/** Shorter names occur in other texts by chance. */
const minNameLength = 6

/** Whether a text that outlives the person's data contains one of its values or IDs, as it is or encoded. */
export function namesPerson(text: string, { identifiers, subjects }: Person): boolean {
  const names = [...identifiers.map(({ value }) => value), ...subjects.map(({ subjectId }) => subjectId)]
  return names.some((name) => name.length >= minNameLength && reveals(text, name))
}
