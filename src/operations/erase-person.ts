import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Origin } from '../domain/activity.ts'
import type { ErasureBatch } from '../domain/erasure-batch.ts'
import { Problems } from '../domain/errors.ts'
import { isIdentifier } from '../domain/identifier.ts'
import { earliestInstant } from '../domain/instant.ts'
import { maxPageSize } from '../domain/page.ts'
import { type Person, refKey, type SubjectRef } from '../domain/person.ts'
import type { SubjectStore } from '../domain/subject.ts'
import { comparableValue, isIdentifierValue, type SubjectIdentifier } from '../domain/subject-identifier.ts'
import type { FoundSubject, OrganisationView, SearchStore, Sought } from '../domain/subject-search.ts'
import { beginBatch, type StartDeps } from './erasure-batch.ts'
import { maxBatchSubjects } from './plan-erasure-batch.ts'
import { type StoredPage, searchStored } from './search-subjects.ts'

/** The maximum number of identifiers and subjects in total. */
export const maxPersonParts = 32
/** The maximum number of open erasures of people per organisation. */
const maxOpen = 100
/** How many related subjects a plan lists. */
const maxOthers = 50

type StoredSubjects = Pick<StoredPage, 'subjects' | 'hidden'>

/** What the erasure of a person would do now. */
export interface PersonPlan extends StoredSubjects {
  /** Other subjects that share an identifier with these, and those identifiers. */
  others: { subjects: FoundSubject[]; identifiers: SubjectIdentifier[] }
}

/** Finds everything stored about a person, and what may belong to the same person. */
export async function planPerson(
  deps: { search: SearchStore; subjects: SubjectStore },
  view: OrganisationView,
  person: Person,
): Promise<PersonPlan> {
  checkPerson(person)
  const found = await findPerson(deps, view, person)
  const taken = new Set([...found.subjects, ...found.hidden].map(refKey))
  const asked = new Set(person.identifiers.map(identityOf))
  const others = new Map<string, FoundSubject>()
  const identifiers: SubjectIdentifier[] = []
  for (const { trackerId, subjectId } of found.subjects.slice(0, maxPersonParts)) {
    const record = await deps.subjects.read({ ...view, trackerId }, subjectId)
    for (const identifier of record?.identifiers ?? []) {
      if (asked.has(identityOf(identifier)) || asked.size >= maxPersonParts) continue
      asked.add(identityOf(identifier))
      const { rows } = await deps.search.subjects(view, {
        ...{ sought: { identifier }, limit: maxOthers, after: null },
      })
      const fresh = rows.filter((each) => !taken.has(refKey(each)))
      if (fresh.length > 0) identifiers.push(identifier)
      for (const each of fresh) if (others.size < maxOthers) others.set(refKey(each), each)
    }
    await nextTurn()
  }
  return { ...found, others: { subjects: [...others.values()], identifiers } }
}

/**
 * Starts to erase a person in every tracker. Throws `validation_error` if there is nothing to erase, or if
 * the number of subjects is no longer `expected`, the number that was confirmed.
 */
export async function startPerson(
  deps: StartDeps,
  view: OrganisationView,
  person: Person,
  expected: number,
  origin: Origin,
): Promise<ErasureBatch> {
  const problems = checkPerson(person)
  const { subjects, hidden } = await findPerson(deps, view, person)
  const all = [...subjects, ...hidden]
  if (all.length === 0) problems.add('person', 'nothing is stored about this person')
  else if (all.length > maxBatchSubjects)
    problems.add(
      'person',
      `this person has more than ${maxBatchSubjects} data subjects: erase them as a batch`,
    )
  else if (all.length !== expected) {
    const now = `${all.length} data ${all.length === 1 ? 'subject' : 'subjects'}`
    problems.add('subjects', `this person now has ${now}, not ${expected}; nothing was erased`)
  }
  if ((await deps.erasureBatches.countOpen(view.organisationId, 'person')) >= maxOpen)
    problems.add('person', `${maxOpen} erasures are in progress; wait until one has finished, or stop one`)
  problems.throwIfAny()
  const items = all.map(({ trackerId, subjectId }) => ({
    ...{ line: 1, outcome: 'waiting' as const, trackerId, subjectId },
  }))
  const counts = { lines: 1, nothing: 0, invalid: 0, repeated: 0, empty: 0, other: 0, subjects: all.length }
  return beginBatch(deps, view.organisationId, { ...counts, person }, items, origin)
}

/** Includes data that the retention window hides. */
export async function findPerson(
  deps: { search: SearchStore },
  view: OrganisationView,
  { identifiers, subjects }: Person,
): Promise<StoredSubjects> {
  const seen = new Map<string, FoundSubject>()
  const hidden = new Map<string, SubjectRef>()
  const add = (found: StoredSubjects, isWanted: (ref: SubjectRef) => boolean) => {
    for (const each of found.subjects) if (isWanted(each)) seen.set(refKey(each), each)
    for (const each of found.hidden) if (isWanted(each)) hidden.set(refKey(each), each)
  }
  const named = new Set(subjects.map(refKey))
  const isNamed = (ref: SubjectRef) => named.has(refKey(ref))
  const ids = new Set(subjects.map(({ subjectId }) => subjectId))
  const wanted: [Sought, (ref: SubjectRef) => boolean][] = [
    ...identifiers.map((identifier): [Sought, () => boolean] => [{ identifier }, () => true]),
    ...Array.from(ids, (subjectId): [Sought, typeof isNamed] => [{ subjectId }, isNamed]),
  ]
  for (const [sought, isWanted] of wanted) {
    if (seen.size + hidden.size <= maxBatchSubjects) add(await findStored(deps, view, sought), isWanted)
  }
  // One identifier may have aged out where another has not.
  for (const key of seen.keys()) hidden.delete(key)
  return { subjects: sortSubjects([...seen.values()]), hidden: sortSubjects([...hidden.values()]) }
}

/** Reads all pages, but hardly more than a batch may contain. */
async function findStored(
  deps: { search: SearchStore },
  view: OrganisationView,
  sought: Sought,
): Promise<StoredSubjects> {
  const found: StoredSubjects = { subjects: [], hidden: [] }
  let after: string | null = null
  do {
    const page: StoredPage = await searchStored(deps, view, earliestInstant, {
      sought,
      limit: maxPageSize,
      after,
    })
    found.subjects.push(...page.subjects)
    found.hidden.push(...page.hidden)
    after = page.next
    await nextTurn()
  } while (after !== null && found.subjects.length + found.hidden.length <= maxBatchSubjects)
  return found
}

/** JSON can contain lone surrogates, which a schema does not detect. */
function checkPerson({ identifiers, subjects }: Person): Problems {
  const problems = new Problems()
  const parts = identifiers.length + subjects.length
  const isSound =
    identifiers.every(({ value }) => isIdentifierValue(value)) &&
    subjects.every(({ trackerId, subjectId }) => isIdentifier(trackerId) && isIdentifier(subjectId))
  if (parts < 1 || parts > maxPersonParts || !isSound)
    problems.add('person', `person must name 1 to ${maxPersonParts} identifiers and data subjects in total`)
  problems.throwIfAny()
  return problems
}

function identityOf(identifier: SubjectIdentifier): string {
  return `${identifier.name}\0${comparableValue(identifier)}`
}

function sortSubjects<Ref extends SubjectRef>(subjects: Ref[]): Ref[] {
  return subjects.sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1))
}
