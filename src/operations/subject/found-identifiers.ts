import type { DerivedIdentifier, SourceKind, SourceRow } from '../../domain/identifier-derivation.ts'
import { comparableValue, isBroughtLater, isIdentifierValue } from '../../domain/subject-identifier.ts'

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
