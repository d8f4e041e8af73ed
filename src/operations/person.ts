import { earliestInstant } from '../domain/instant.ts'
import { type Person, refKey, type SubjectRef } from '../domain/person.ts'
import { timeSlices } from '../domain/semaphore.ts'
import type { SubjectStore } from '../domain/subject.ts'
import type { SubjectIdentifier } from '../domain/subject-identifier.ts'
import type { FoundSubject, OrganisationView, SearchStore, Sought } from '../domain/subject-search.ts'
import { identityOf, maxPersonParts } from './find-person.ts'
import { searchStored } from './search-subjects.ts'

/** The maximum number of records that are shown of a person. Requests cover all of them. */
const maxPersonRecords = 200
/** How many identifiers are shown of a record. */
const maxIdentifiers = 32
/** How many records are shown that share an identifier. */
const maxOthers = 50

/** What is stored about a person on one tracker under one ID. */
interface PersonRecord extends FoundSubject {
  identifiers: SubjectIdentifier[]
  hasMoreIdentifiers: boolean
}

/** Records of another or the same person: they share an identifier, or the ID on another tracker (`null`). */
interface RelatedRecords {
  identifier: SubjectIdentifier | null
  subjects: FoundSubject[]
  /** Records that the retention window hides, which are still stored. */
  hidden: SubjectRef[]
  hasMore: boolean
}

interface PersonRecords {
  /** Seen last first. */
  records: PersonRecord[]
  /** Records that the retention window hides, which are still stored. */
  hidden: SubjectRef[]
  hasMore: boolean
  others: RelatedRecords[]
}

interface PersonDeps {
  subjects: SubjectStore
  search: SearchStore
}

/** What is stored about a person on all trackers, and what may belong to the same person. */
export async function readPerson(
  deps: PersonDeps,
  view: OrganisationView,
  person: Person,
  signal?: AbortSignal,
): Promise<PersonRecords> {
  const slices = timeSlices()
  const pause = async () => {
    await slices()
    signal?.throwIfAborted()
  }
  const found = new FoundRecords()
  for (const identifier of person.identifiers) {
    await pause()
    const query = { sought: { identifier }, limit: maxPersonRecords, after: null }
    const { subjects, hidden, next } = await searchStored(deps, view, earliestInstant, query)
    found.add(subjects, hidden, next !== null)
  }
  for (const ref of person.subjects) {
    await pause()
    const tracker = { ...view, trackerId: ref.trackerId }
    const isStored = await deps.subjects.read({ ...tracker, since: earliestInstant }, ref.subjectId)
    const seen = isStored && (await deps.subjects.read(tracker, ref.subjectId))
    if (seen) found.add([{ ...seen, trackerId: ref.trackerId }], [], false)
    else if (isStored) found.add([], [ref], false)
  }
  const { subjects, hidden, hasMore } = found.take()
  const records: PersonRecord[] = []
  for (const subject of subjects) {
    await pause()
    const record = await deps.subjects.read({ ...view, trackerId: subject.trackerId }, subject.subjectId)
    const { identifiers = [] } = record ?? {}
    records.push({
      ...{ ...subject, identifiers: identifiers.slice(0, maxIdentifiers) },
      hasMoreIdentifiers: identifiers.length > maxIdentifiers,
    })
  }
  const taken = new Set([...records, ...hidden].map(refKey))
  const others: RelatedRecords[] = []
  for (const sought of relationsOf(person, records, hidden)) {
    await pause()
    const query = { sought, limit: maxOthers, after: null }
    const stored = await searchStored(deps, view, earliestInstant, query)
    const isOther = (ref: SubjectRef) => !taken.has(refKey(ref))
    const other = { subjects: stored.subjects.filter(isOther), hidden: stored.hidden.filter(isOther) }
    const identifier = 'identifier' in sought ? sought.identifier : null
    if (other.subjects.length + other.hidden.length > 0)
      others.push({ identifier, ...other, hasMore: stored.next !== null })
  }
  return { records, hidden, hasMore, others }
}

/** The records of a person, each once. */
class FoundRecords {
  readonly #seen = new Map<string, FoundSubject>()
  readonly #hidden = new Map<string, SubjectRef>()
  #hasMore = false

  add(seen: readonly FoundSubject[], hidden: readonly SubjectRef[], hasMore: boolean): void {
    for (const each of seen) this.#seen.set(refKey(each), each)
    for (const each of hidden) this.#hidden.set(refKey(each), each)
    this.#hasMore ||= hasMore
  }

  take(): { subjects: FoundSubject[]; hidden: SubjectRef[]; hasMore: boolean } {
    // One identifier may have aged out where another has not.
    for (const key of this.#seen.keys()) this.#hidden.delete(key)
    const subjects = [...this.#seen.values()].sort((a, b) => b.lastSeenAt - a.lastSeenAt)
    const hidden = [...this.#hidden.values()]
    return {
      ...{ subjects: subjects.slice(0, maxPersonRecords), hidden: hidden.slice(0, maxPersonRecords) },
      hasMore: this.#hasMore || Math.max(subjects.length, hidden.length) > maxPersonRecords,
    }
  }
}

/**
 * By what other records may belong to a person: as many identifiers and IDs as a person has parts.
 * Identifiers that the retention window hides are not shown, so they are not among them.
 */
function relationsOf(
  person: Person,
  records: readonly PersonRecord[],
  hidden: readonly SubjectRef[],
): Sought[] {
  const asked = new Set(person.identifiers.map(identityOf))
  const shared = new Map<string, Sought>()
  for (const identifier of records.flatMap(({ identifiers }) => identifiers)) {
    if (!asked.has(identityOf(identifier))) shared.set(identityOf(identifier), { identifier })
  }
  const ids = new Set([...records, ...hidden].map(({ subjectId }) => subjectId))
  return [...shared.values(), ...Array.from(ids, (subjectId) => ({ subjectId }))].slice(0, maxPersonParts)
}
