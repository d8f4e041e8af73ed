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

/**
 * Gives content the same ID as long as it does not change, so that sending it again after a lost answer
 * creates no second request.
 */
export function requestIds(): (content: object) => string {
  let last = { content: '', requestId: '' }
  return (content) => {
    const text = JSON.stringify(content)
    if (text !== last.content) last = { content: text, requestId: newRequestId() }
    return last.requestId
  }
}

/** A random UUID. `crypto.randomUUID` does not exist on pages that are served over HTTP. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5')
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
