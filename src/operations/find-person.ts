import { setImmediate as nextTurn } from 'node:timers/promises'
import { isIdentifier } from '../domain/identifier.ts'
import { earliestInstant } from '../domain/instant.ts'
import { maxPageSize } from '../domain/page.ts'
import { type Person, refKey, type SubjectRef } from '../domain/person.ts'
import { comparableValue, isIdentifierValue, type SubjectIdentifier } from '../domain/subject-identifier.ts'
import type { FoundSubject, OrganisationView, SearchStore, Sought } from '../domain/subject-search.ts'
import { type StoredPage, searchStored } from './search-subjects.ts'

/** The maximum number of identifiers and subjects in total. */
export const maxPersonParts = 32
export const personRule = `1 to ${maxPersonParts} identifiers and data subjects in total`

/** About how many subjects one search finds. */
export const maxFoundSubjects = 10_000

type StoredSubjects = Pick<StoredPage, 'subjects' | 'hidden'>

/** Everything stored about a person, including what the retention window hides. */
export interface FoundPerson extends StoredSubjects {
  /** The subjects that the person names, but about which nothing is stored. */
  missing: SubjectRef[]
  /** The positions of the identifiers about which something is stored. */
  heldIdentifiers: number[]
  /** `false` if there is more. */
  isComplete: boolean
}

/** JSON can contain lone surrogates, which a schema does not detect. */
export function isPerson({ identifiers, subjects }: Person): boolean {
  const parts = identifiers.length + subjects.length
  return (
    parts >= 1 &&
    parts <= maxPersonParts &&
    identifiers.every(({ value }) => isIdentifierValue(value)) &&
    subjects.every(({ trackerId, subjectId }) => isIdentifier(trackerId) && isIdentifier(subjectId))
  )
}

export async function findPerson(
  deps: { search: SearchStore },
  view: OrganisationView,
  { identifiers, subjects: named }: Person,
): Promise<FoundPerson> {
  const seen = new Map<string, FoundSubject>()
  const hidden = new Map<string, SubjectRef>()
  const add = (found: StoredSubjects) => {
    for (const each of found.subjects) seen.set(refKey(each), each)
    for (const each of found.hidden) hidden.set(refKey(each), each)
  }
  // A person may name a subject twice.
  const namedRefs = new Map(named.map((ref) => [refKey(ref), ref]))
  const isNamed = (ref: SubjectRef) => namedRefs.has(refKey(ref))
  for (const subjectId of new Set(named.map(({ subjectId }) => subjectId))) {
    const found = await findStored(deps, view, { subjectId })
    add({ subjects: found.subjects.filter(isNamed), hidden: found.hidden.filter(isNamed) })
  }
  const missing = [...namedRefs.values()].filter((ref) => !seen.has(refKey(ref)) && !hidden.has(refKey(ref)))
  const heldIdentifiers: number[] = []
  let isComplete = true
  for (const [position, identifier] of identifiers.entries()) {
    isComplete &&= seen.size + hidden.size <= maxFoundSubjects
    if (!isComplete) {
      // That it was not searched must not become a proof that nothing is held.
      if (await isHeld(deps, view, identifier)) heldIdentifiers.push(position)
      continue
    }
    const found = await findStored(deps, view, { identifier })
    add(found)
    if (found.subjects.length + found.hidden.length > 0) heldIdentifiers.push(position)
    isComplete = found.isComplete
  }
  // One identifier may have aged out where another has not.
  for (const key of seen.keys()) hidden.delete(key)
  const found = { subjects: sortSubjects([...seen.values()]), hidden: sortSubjects([...hidden.values()]) }
  return { ...found, missing, heldIdentifiers, isComplete }
}

async function isHeld(
  { search }: { search: SearchStore },
  view: OrganisationView,
  identifier: SubjectIdentifier,
): Promise<boolean> {
  const query = { sought: { identifier }, limit: 1, after: null }
  return (await search.subjects({ ...view, since: earliestInstant }, query)).rows.length > 0
}

/** Reads all pages, but hardly more than a search may find. */
async function findStored(
  deps: { search: SearchStore },
  view: OrganisationView,
  sought: Sought,
): Promise<StoredSubjects & { isComplete: boolean }> {
  const found: StoredSubjects = { subjects: [], hidden: [] }
  let after: string | null = null
  do {
    const query = { sought, limit: maxPageSize, after }
    const page: StoredPage = await searchStored(deps, view, earliestInstant, query)
    found.subjects.push(...page.subjects)
    found.hidden.push(...page.hidden)
    after = page.next
    await nextTurn()
  } while (after !== null && found.subjects.length + found.hidden.length <= maxFoundSubjects)
  return { ...found, isComplete: after === null }
}

/** The same for identifiers that are compared as equal. */
export function identityOf(identifier: SubjectIdentifier): string {
  return `${identifier.name}\0${comparableValue(identifier)}`
}

function sortSubjects<Ref extends SubjectRef>(subjects: Ref[]): Ref[] {
  return subjects.sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1))
}
