import type { SubjectCounts } from '../domain/activity.ts'
import { type Person, refKey, type SubjectRef } from '../domain/person.ts'
import type { KnownRequest } from '../domain/request-group.ts'
import { maxPersonParts } from './find-person.ts'

/** A request of a line on a list. A line has several if one cannot name all of its data subjects. */
export interface LineRequest {
  id: string
  /** `null` if it is not stored. */
  known: KnownRequest | null
}

/** Without counts if it is hidden. */
export type ListedSubject = SubjectRef & { counts: SubjectCounts | null }

/** A request to erase, and what is stored about its person. */
interface DividedPart {
  request: LineRequest
  person: Person
  subjects: readonly ListedSubject[]
}

/**
 * Divides what a line matches among its requests. Open ones erase whom they name, and the first unstored ones
 * everyone else. If some have begun, all were stored before, and nobody else gets a request. `missing` is how
 * many more requests it takes.
 */
export function divideLine(
  requests: readonly LineRequest[],
  subjects: readonly ListedSubject[],
): { parts: DividedPart[]; missing: number } {
  const parts: DividedPart[] = []
  const rest = new Map(subjects.map((each) => [refKey(each), each]))
  for (const request of requests) {
    const person = request.known?.state === 'open' ? request.known.person : null
    if (person === null) continue
    const named = person.subjects.flatMap((each) => rest.get(refKey(each)) ?? [])
    for (const each of named) rest.delete(refKey(each))
    parts.push({ request, person, subjects: named })
  }
  if (requests.some(hasBegun)) return { parts, missing: 0 }
  const unstored = requests.filter(({ known }) => known === null)
  const others = [...rest.values()]
  for (const [i, request] of unstored.entries()) {
    const part = others.slice(i * maxPersonParts, (i + 1) * maxPersonParts)
    if (part.length === 0) break
    const named = part.map(({ trackerId, subjectId }) => ({ trackerId, subjectId }))
    parts.push({ request, person: { identifiers: [], subjects: named }, subjects: part })
  }
  return { parts, missing: Math.max(0, Math.ceil(others.length / maxPersonParts) - unstored.length) }
}

export function hasBegun({ known }: LineRequest): boolean {
  return known !== null && known.state !== 'open'
}
