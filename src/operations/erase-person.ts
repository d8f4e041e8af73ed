import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Origin } from '../domain/activity.ts'
import type { ErasureBatch, Person, SubjectRef } from '../domain/erasure-batch.ts'
import { Problems } from '../domain/errors.ts'
import { isIdentifier } from '../domain/identifier.ts'
import { maxPageSize } from '../domain/page.ts'
import type { SubjectStore } from '../domain/subject.ts'
import { comparableValue, isIdentifierValue, type SubjectIdentifier } from '../domain/subject-identifier.ts'
import type { FoundSubject, OrganisationView, SearchStore, Sought } from '../domain/subject-search.ts'
import { beginBatch, type StartDeps } from './erasure-batch.ts'
import { maxBatchSubjects } from './plan-erasure-batch.ts'
import { ever, type StoredPage, searchStored } from './search-subjects.ts'

/** How many identifiers and subjects a person is named by, both together. */
export const maxPersonParts = 32
/** How many erasures of a person may wait or run at a time, in an organisation. */
const mostOpen = 100
/** So many subjects that a person may have besides are told. */
const mostOthers = 50

/** What is stored of somebody. */
type StoredSubjects = Pick<StoredPage, 'subjects' | 'hidden'>

/** What the erasure of a person would do, as of now. */
export interface PersonPlan extends StoredSubjects {
  /** Subjects that share an identifier with these and are not among them, and the identifiers that lead to them. */
  others: { subjects: FoundSubject[]; identifiers: SubjectIdentifier[] }
}

/** Looks for all that is stored of a person, and for what may be of the same person besides. Changes nothing. */
export async function planPerson(
  deps: { search: SearchStore; subjects: SubjectStore },
  view: OrganisationView,
  person: Person,
): Promise<PersonPlan> {
  checkPerson(person)
  const found = await findPerson(deps, view, person)
  const taken = new Set([...found.subjects, ...found.hidden].map(keyOf))
  const asked = new Set(person.identifiers.map(identityOf))
  const others = new Map<string, FoundSubject>()
  const identifiers: SubjectIdentifier[] = []
  for (const { trackerId, subjectId } of found.subjects.slice(0, maxPersonParts)) {
    const record = await deps.subjects.read({ ...view, trackerId }, subjectId)
    for (const identifier of record?.identifiers ?? []) {
      if (asked.has(identityOf(identifier)) || asked.size >= maxPersonParts) continue
      asked.add(identityOf(identifier))
      const { rows } = await deps.search.subjects(view, {
        ...{ sought: { identifier }, limit: mostOthers, after: null },
      })
      const fresh = rows.filter((each) => !taken.has(keyOf(each)))
      if (fresh.length > 0) identifiers.push(identifier)
      for (const each of fresh) if (others.size < mostOthers) others.set(keyOf(each), each)
    }
    await nextTurn()
  }
  return { ...found, others: { subjects: [...others.values()], identifiers } }
}

/**
 * Starts to erase all that is stored of a person, in every tracker. `expected` is how many data subjects that were when it was
 * confirmed: `validation_error` when it is not so now, or when there is nothing to erase.
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
    problems.add('subjects', `this person has ${now} now, not ${expected}; nothing was erased`)
  }
  if ((await deps.erasureBatches.countOpen(view.organisationId, 'person')) >= mostOpen)
    problems.add('person', `${mostOpen} erasures are in progress; wait until one has finished, or stop one`)
  problems.throwIfAny()
  const items = all.map(({ trackerId, subjectId }) => ({
    ...{ line: 1, outcome: 'waiting' as const, trackerId, subjectId },
  }))
  const counts = { lines: 1, nothing: 0, invalid: 0, repeated: 0, empty: 0, other: 0, subjects: all.length }
  return beginBatch(deps, view.organisationId, { ...counts, person }, items, origin)
}

/** All that is stored of a person, with what a window hides. */
export async function findPerson(
  deps: { search: SearchStore },
  view: OrganisationView,
  { identifiers, subjects }: Person,
): Promise<StoredSubjects> {
  const seen = new Map<string, FoundSubject>()
  const hidden = new Map<string, SubjectRef>()
  const add = (found: StoredSubjects, isMeant: (ref: SubjectRef) => boolean) => {
    for (const each of found.subjects) if (isMeant(each)) seen.set(keyOf(each), each)
    for (const each of found.hidden) if (isMeant(each)) hidden.set(keyOf(each), each)
  }
  const named = new Set(subjects.map(keyOf))
  const isNamed = (ref: SubjectRef) => named.has(keyOf(ref))
  const ids = new Set(subjects.map(({ subjectId }) => subjectId))
  const wanted: [Sought, (ref: SubjectRef) => boolean][] = [
    ...identifiers.map((identifier): [Sought, () => boolean] => [{ identifier }, () => true]),
    ...Array.from(ids, (subjectId): [Sought, typeof isNamed] => [{ subjectId }, isNamed]),
  ]
  for (const [sought, isMeant] of wanted) {
    if (seen.size + hidden.size <= maxBatchSubjects) add(await findStored(deps, view, sought), isMeant)
  }
  // One identifier may have aged out where another has not.
  for (const key of seen.keys()) hidden.delete(key)
  return { subjects: sortSubjects([...seen.values()]), hidden: sortSubjects([...hidden.values()]) }
}

/** Everybody who is stored under what is sought, page after page; hardly more than a batch takes. */
async function findStored(
  deps: { search: SearchStore },
  view: OrganisationView,
  sought: Sought,
): Promise<StoredSubjects> {
  const found: StoredSubjects = { subjects: [], hidden: [] }
  let after: string | null = null
  do {
    const page: StoredPage = await searchStored(deps, view, ever, { sought, limit: maxPageSize, after })
    found.subjects.push(...page.subjects)
    found.hidden.push(...page.hidden)
    after = page.next
    await nextTurn()
  } while (after !== null && found.subjects.length + found.hidden.length <= maxBatchSubjects)
  return found
}

/** Text in JSON can hold halves of characters, which no schema sees. */
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

function keyOf({ trackerId, subjectId }: SubjectRef): string {
  return `${trackerId}\0${subjectId}`
}

function identityOf(identifier: SubjectIdentifier): string {
  return `${identifier.name}\0${comparableValue(identifier)}`
}

function sortSubjects<Ref extends SubjectRef>(subjects: Ref[]): Ref[] {
  return subjects.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
