import { setImmediate as nextTurn } from 'node:timers/promises'
import { isIdentifier } from '../../domain/identifier.ts'
import type { SubjectStore } from '../../domain/subject.ts'
import { isIdentifierValue, type SubjectIdentifier } from '../../domain/subject-identifier.ts'
import type { FoundSubject, OrganisationView, SearchStore } from '../../domain/subject-search.ts'
import type { Tracker, TrackerStore } from '../../domain/tracker.ts'

/** How many are found at most, whatever is asked for: who has more of them asks the API. */
export const mostFound = 1_000

/** Whom was found on one tracker. */
export interface FoundGroup {
  tracker: Tracker
  subjects: FoundSubject[]
  /** Whether there are more than are told. */
  hasMore: boolean
}

interface FindDeps {
  trackers: TrackerStore
  subjects: SubjectStore
  search: SearchStore
}

/**
 * Whoever a text may stand for, in all trackers of the organisation, up to `limit` on each: those known by it, as an e-mail address or
 * as `name=value`, and those whose id begins with it.
 */
export async function findPeople(
  { trackers, subjects, search }: FindDeps,
  view: OrganisationView,
  text: string,
  limit: number,
): Promise<FoundGroup[]> {
  const known: FoundSubject[] = []
  for (const identifier of identifiersIn(text)) {
    const page = await search.subjects(view, { sought: { identifier }, limit: mostFound, after: null })
    known.push(...page.rows)
  }
  const groups: FoundGroup[] = []
  let left = mostFound
  for (const tracker of await trackers.list(view.organisationId)) {
    // Each look is short, but there may be many trackers: other requests get their turn in between.
    await nextTurn()
    const found = new Map<string, FoundSubject>()
    for (const subject of known) if (subject.trackerId === tracker.id) found.set(subject.subjectId, subject)
    let hasMore = false
    if (isIdentifier(text)) {
      const query = {
        ...{ sort: 'subjectId' as const, subjectIdPrefix: text, after: null },
        ...{ lastSeenAfter: null, lastSeenBefore: null, limit: Math.min(limit, left) },
      }
      const page = await subjects.list({ ...view, trackerId: tracker.id }, query)
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
  return groups
}

const named = /^([a-z][A-Za-z0-9_]{0,31})=(.+)$/

/** What somebody may be known by who writes this. */
function identifiersIn(text: string): SubjectIdentifier[] {
  const [, name, value] = named.exec(text) ?? []
  const identifiers = [
    ...(name !== undefined && value !== undefined ? [{ name, value }] : []),
    ...(text.includes('@') ? [{ name: 'email', value: text }] : []),
  ]
  return identifiers.filter((identifier) => isIdentifierValue(identifier.value))
}
