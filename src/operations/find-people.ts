import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SubjectRef } from '../domain/erasure-batch.ts'
import { isIdentifier } from '../domain/identifier.ts'
import type { DerivedIdentifier, SourceKind, SourceRow } from '../domain/identifier-derivation.ts'
import type { SubjectStore } from '../domain/subject.ts'
import {
  comparableValue,
  isBroughtLater,
  isIdentifierValue,
  type SubjectIdentifier,
} from '../domain/subject-identifier.ts'
import type { FoundSubject, OrganisationView, SearchStore } from '../domain/subject-search.ts'
import type { Tracker, TrackerStore } from '../domain/tracker.ts'
import { ever, searchStored } from './search-subjects.ts'

/** How many are found at most, whatever is asked for: who has more of them asks the API. */
export const mostFound = 1_000
/** Under how many names a value is looked for. */
const maxNames = 100

/** Whom was found on one tracker. */
interface FoundGroup {
  tracker: Tracker
  subjects: FoundSubject[]
  /** Whether there are more than are told. */
  hasMore: boolean
}

/** Whom a text stands for: who is known by an identifier, or has an id. The beginning of an id stands for nobody. */
interface FoundPerson {
  /** `null` for whoever has the text as an id. */
  identifier: SubjectIdentifier | null
  subjects: FoundSubject[]
  /** Those of whom only data is stored that cannot be seen any more. */
  hidden: SubjectRef[]
}

interface FoundPeople {
  groups: FoundGroup[]
  people: FoundPerson[]
}

interface FindDeps {
  trackers: TrackerStore
  subjects: SubjectStore
  search: SearchStore
}

/**
 * Whoever a text may stand for, in all trackers of the organisation, up to `limit` on each: those known by it, as `name=value` or under
 * any name, and those whose id begins with it. The signal ends it.
 */
export async function findPeople(
  deps: FindDeps,
  view: OrganisationView,
  text: string,
  limit: number,
  signal?: AbortSignal,
): Promise<FoundPeople> {
  const people = await peopleOf(deps, view, text, signal)
  const known = people.flatMap(({ subjects }) => subjects)
  const groups: FoundGroup[] = []
  let left = mostFound
  for (const tracker of await deps.trackers.list(view.organisationId)) {
    // Each look is short, but there may be many trackers: other requests get their turn in between.
    await nextTurn()
    signal?.throwIfAborted()
    const found = new Map<string, FoundSubject>()
    for (const subject of known) if (subject.trackerId === tracker.id) found.set(subject.subjectId, subject)
    let hasMore = false
    if (isIdentifier(text)) {
      const query = {
        ...{ sort: 'subjectId' as const, subjectIdPrefix: text, after: null },
        ...{ lastSeenAfter: null, lastSeenBefore: null, limit: Math.min(limit, left) },
      }
      const page = await deps.subjects.list({ ...view, trackerId: tracker.id }, query)
      for (const subject of page?.rows ?? [])
        found.set(subject.subjectId, { ...subject, trackerId: tracker.id })
      hasMore = page?.next !== null && page !== null
    }
    const shown = [...found.values()].slice(0, Math.min(limit, left))
    hasMore ||= shown.length < found.size
    left -= shown.length
    if (shown.length > 0) groups.push({ tracker, subjects: shown, hasMore })
    if (left === 0) break
  }
  return { groups, people }
}

async function peopleOf(
  deps: FindDeps,
  view: OrganisationView,
  text: string,
  signal: AbortSignal | undefined,
): Promise<FoundPerson[]> {
  const people: FoundPerson[] = []
  let left = mostFound
  async function add(identifier: SubjectIdentifier | null): Promise<void> {
    await nextTurn()
    signal?.throwIfAborted()
    if (left === 0) return
    const sought = identifier ? { identifier } : { subjectId: text }
    const { subjects, hidden } = await searchStored(deps, view, ever, { sought, limit: left, after: null })
    left -= subjects.length + hidden.length
    if (subjects.length + hidden.length > 0) people.push({ identifier, subjects, hidden })
  }
  const names = await deps.search.identifierNames(view.organisationId, maxNames)
  for (const identifier of identifiersIn(text, names)) await add(identifier)
  if (isIdentifier(text)) await add(null)
  return people
}

const named = /^([A-Za-z][A-Za-z0-9_]{0,31})=(.+)$/

/** What somebody may be known by who writes this: a name counts in whatever case, and a value may go without one. */
function identifiersIn(text: string, names: readonly string[]): SubjectIdentifier[] {
  const [, name = '', value = ''] = named.exec(text) ?? []
  const identifiers = [
    ...names
      .filter((each) => each.toLowerCase() === name.toLowerCase())
      .map((each) => ({ name: each, value })),
    ...names.map((each) => ({ name: each, value: text })),
  ]
  return identifiers.filter((identifier) => isIdentifierValue(identifier.value))
}

/** Where an identifier is taken from: a field of the attributes of sessions, or of the properties of events. */
export interface IdentifierSource {
  kind: SourceKind
  field: string
  /** What the identifier is called. */
  name: string
}

/** What the rows of a subject say it is known by, each identifier once, as the newest of them wrote it. */
export class FoundIdentifiers {
  readonly #subjectId: string
  readonly #sources: readonly IdentifierSource[]
  readonly #found = new Map<string, DerivedIdentifier>()
  unusable = 0

  constructor(subjectId: string, sources: readonly IdentifierSource[]) {
    this.#subjectId = subjectId
    this.#sources = sources
  }

  get size(): number {
    return this.#found.size
  }

  add(kind: SourceKind, { id: sourceId, at: broughtAt, facts }: SourceRow): void {
    if (facts === null) return
    for (const { field, name } of this.#sources.filter((source) => source.kind === kind)) {
      const found = Object.hasOwn(facts, field) ? facts[field] : null
      if (found === null) continue
      const value = typeof found === 'number' ? String(found) : found
      if (!isIdentifierValue(value)) {
        this.unusable += 1
        continue
      }
      const derived = { subjectId: this.#subjectId, kind, sourceId, name, value, broughtAt }
      const key = `${name}\0${comparableValue(derived)}`
      const known = this.#found.get(key)
      if (!known || isBroughtLater(derived, known)) this.#found.set(key, derived)
    }
  }

  take(): DerivedIdentifier[] {
    const all = [...this.#found.values()]
    this.#found.clear()
    return all
  }
}
