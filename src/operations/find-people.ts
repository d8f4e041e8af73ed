import { setImmediate as nextTurn } from 'node:timers/promises'
import { isIdentifier } from '../domain/identifier.ts'
import type { DerivedIdentifier, SourceKind, SourceRow } from '../domain/identifier-derivation.ts'
import { earliestInstant } from '../domain/instant.ts'
import type { SubjectRef } from '../domain/person.ts'
import type { SubjectStore } from '../domain/subject.ts'
import {
  comparableValue,
  isBroughtLater,
  isIdentifierValue,
  type SubjectIdentifier,
} from '../domain/subject-identifier.ts'
import type { FoundSubject, OrganisationView, SearchStore } from '../domain/subject-search.ts'
import type { Tracker, TrackerStore } from '../domain/tracker.ts'
import { searchStored } from './search-subjects.ts'

/** The maximum number of results in total; the API returns more. */
export const maxFound = 1_000
const maxNames = 100

interface FoundGroup {
  tracker: Tracker
  subjects: FoundSubject[]
  hasMore: boolean
}

/** A person whose identifier or ID equals the text; a prefix of an ID is not enough. */
interface FoundPerson {
  /** `null` if the text is the subject's ID. */
  identifier: SubjectIdentifier | null
  subjects: FoundSubject[]
  /** Subjects whose stored data is no longer visible. */
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
 * Searches all trackers of an organisation, up to `limit` results each, for an identifier (`name=value`, or
 * the value under any name) and for IDs that start with the text.
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
  let left = maxFound
  for (const tracker of await deps.trackers.list(view.organisationId)) {
    // Yields to other requests, because there may be many trackers.
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
  let left = maxFound
  async function add(identifier: SubjectIdentifier | null): Promise<void> {
    await nextTurn()
    signal?.throwIfAborted()
    if (left === 0) return
    const sought = identifier ? { identifier } : { subjectId: text }
    const { subjects, hidden } = await searchStored(deps, view, earliestInstant, {
      sought,
      limit: left,
      after: null,
    })
    left -= subjects.length + hidden.length
    if (subjects.length + hidden.length > 0) people.push({ identifier, subjects, hidden })
  }
  const names = await deps.search.identifierNames(view.organisationId, maxNames)
  for (const identifier of identifiersIn(text, names)) await add(identifier)
  if (isIdentifier(text)) await add(null)
  return people
}

const named = /^([A-Za-z][A-Za-z0-9_]{0,31})=(.+)$/

/** The identifiers that a text may stand for. The name is optional and case-insensitive. */
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

/** A field of sessions' attributes or events' properties. */
export interface IdentifierSource {
  kind: SourceKind
  field: string
  /** The identifier's name. */
  name: string
}

/** The identifiers in a subject's rows, each once, as written in the newest row. */
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
