import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Origin } from '../domain/activity.ts'
import type { ErasureBatch } from '../domain/erasure-batch.ts'
import { Problems } from '../domain/errors.ts'
import { type Person, refKey } from '../domain/person.ts'
import type { SubjectStore } from '../domain/subject.ts'
import type { SubjectIdentifier } from '../domain/subject-identifier.ts'
import type { FoundSubject, OrganisationView, SearchStore } from '../domain/subject-search.ts'
import { beginBatch, type StartDeps } from './erasure-batch.ts'
import {
  type FoundPerson,
  findPerson,
  identityOf,
  isPerson,
  maxFoundSubjects,
  maxPersonParts,
  personRule,
} from './find-person.ts'

/** The maximum number of open erasures of people per organisation. */
const maxOpen = 100
/** How many related subjects a plan lists. */
const maxOthers = 50

/** What the erasure of a person would do now. */
export interface PersonPlan extends FoundPerson {
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
  else if (all.length > maxFoundSubjects)
    problems.add(
      'person',
      `this person has more than ${maxFoundSubjects} data subjects: erase them as a batch`,
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

function checkPerson(person: Person): Problems {
  const problems = new Problems()
  if (!isPerson(person)) problems.add('person', `person must name ${personRule}`)
  problems.throwIfAny()
  return problems
}
