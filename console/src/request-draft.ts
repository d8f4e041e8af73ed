import type { FoundPerson, Identifier, Request, SubjectRef } from './types.ts'

/** What a new request begins with. */
export interface RequestDraft {
  kind: Request['kind']
  identifiers: readonly Identifier[]
  subjects: readonly SubjectRef[]
}

// Only in memory: it names a person, and belongs in no URL, history or storage.
let draft: RequestDraft | null = null

/** Passes a person to the form of a new request. */
export function setRequestDraft(next: RequestDraft | null): void {
  draft = next
}

/** Takes the person that was passed, once. */
export function takeRequestDraft(): RequestDraft | null {
  const taken = draft
  draft = null
  return taken
}

/** The person that a search text means: those found by it, or else an identifier that it looks like. */
export function draftOf(text: string, people: readonly FoundPerson[]): RequestDraft {
  const identifiers = people.flatMap(({ identifier }) => identifier ?? [])
  const subjects = people.flatMap(({ identifier, subjects, hidden }) =>
    identifier ? [] : [...subjects, ...hidden].map(({ trackerId, subjectId }) => ({ trackerId, subjectId })),
  )
  const isFound = identifiers.length + subjects.length > 0
  return { kind: 'access', identifiers: isFound ? identifiers : [identifierIn(text)], subjects }
}

function identifierIn(text: string): Identifier {
  const [, name, value] = /^([a-z]\w{0,31})=(.+)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return { name, value: value.trim() }
  return { name: text.includes('@') ? 'email' : 'userId', value: text }
}
