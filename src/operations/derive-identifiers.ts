import { setImmediate as nextTurn } from 'node:timers/promises'
import { notFound } from '../domain/errors.ts'
import type { DerivationStore, DerivedIdentifier, SourceRow } from '../domain/identifier-derivation.ts'
import type { Clock } from '../domain/instant.ts'
import type { OrganisationStore } from '../domain/organisation.ts'
import type { Page } from '../domain/page.ts'
import { type RetentionDays, windowStart } from '../domain/retention.ts'
import type { SubjectPosition, SubjectStore } from '../domain/subject.ts'
import type { TrackerStore, TrackerView } from '../domain/tracker.ts'
import { FoundIdentifiers, type IdentifierSource } from './find-people.ts'
import { requireOrganisation } from './organisation.ts'
import { requireTracker } from './tracker.ts'

export interface DerivationOptions {
  sources: readonly IdentifierSource[]
  /** Only says what would be added. */
  dryRun?: boolean
  /** Told after every step what came of it so far, and how much of it that is, from 0 to 1; `null` where nobody has counted that far. */
  onProgress?(derived: Derivation, share: number | null): void
  /** Ends it early, between two steps, with the signal's reason. */
  signal?: AbortSignal
}

export interface Derivation {
  /** How many were looked at. */
  subjects: number
  /** Identifiers that nobody had brought before, and those that live longer now. */
  added: number
  renewed: number
  /** Values that no identifier can have. */
  unusable: number
}

interface DerivationDeps {
  organisations: OrganisationStore
  trackers: TrackerStore
  subjects: SubjectStore
  derivation: DerivationStore
  retentionDays: RetentionDays
  clock: Clock
}

const subjectsPerStep = 100
/** A page of each is in memory at the same time. */
const subjectsRead = 8
/** How many identifiers share a transaction: few enough that an erasure that comes meanwhile hardly waits. */
const mostAtOnce = 500
/** To count more would take longer than it is worth. */
const mostCounted = 1_000_000

/**
 * Makes identifiers out of what a tracker's subjects hold already, in small steps. Broken off at any moment and run again, it adds what
 * is missing. `not_found` when there is no such tracker, or not any more.
 */
export async function deriveIdentifiers(
  deps: DerivationDeps,
  trackerId: string,
  { sources, dryRun = false, onProgress, signal }: DerivationOptions,
): Promise<Derivation> {
  const { subjects, derivation } = deps
  const tracker = await viewOf(deps, trackerId)
  const expected = await subjects.count(tracker, mostCounted)
  const total: Derivation = { subjects: 0, added: 0, renewed: 0, unusable: 0 }
  const kinds = (['session', 'event'] as const).filter((kind) => sources.some((each) => each.kind === kind))

  async function keep(derived: readonly DerivedIdentifier[]): Promise<void> {
    for (let from = 0; from < derived.length; from += mostAtOnce) {
      const { missing, counts } = await derivation.missing(tracker, derived.slice(from, from + mostAtOnce))
      const kept = dryRun || missing.length === 0 ? counts : await derivation.add(tracker, missing)
      total.added += kept.added
      total.renewed += kept.renewed
    }
  }

  /** What a subject's rows say. What is too much to wait for the end of the step is kept immediately. */
  async function read(subjectId: string): Promise<DerivedIdentifier[]> {
    const found = new FoundIdentifiers(subjectId, sources)
    for (const kind of kinds) {
      const fields = sources.filter((each) => each.kind === kind).map(({ field }) => field)
      for (let after: SourceRow | null = null; ; ) {
        // A store may answer immediately: signals and progress must get their turn in between.
        await nextTurn()
        signal?.throwIfAborted()
        const page: Page<SourceRow, SourceRow> = await derivation.rows(tracker, {
          subjectId,
          kind,
          fields,
          after,
        })
        for (const row of page.rows) found.add(kind, row)
        after = page.next
        if (after === null) break
        if (found.size >= mostAtOnce) await keep(found.take())
      }
    }
    total.unusable += found.unusable
    return found.take()
  }

  for (let after: SubjectPosition | null = null; ; ) {
    const page = await subjects.list(tracker, { ...everySubject, limit: subjectsPerStep, after })
    if (page === null) throw notFound('This tracker')
    const waiting: DerivedIdentifier[] = []
    for (let from = 0; from < page.rows.length; from += subjectsRead) {
      const some = page.rows.slice(from, from + subjectsRead)
      const found = await Promise.all(some.map(({ subjectId }) => read(subjectId)))
      waiting.push(...found.flat())
    }
    await keep(waiting)
    total.subjects += page.rows.length
    const isCounted = expected !== null && expected > 0 && expected < mostCounted
    onProgress?.({ ...total }, isCounted ? Math.min(1, total.subjects / expected) : null)
    after = page.next
    if (after === null) return total
  }
}

/** What is to be seen of a tracker now, by the plan of its organisation. */
async function viewOf(deps: DerivationDeps, trackerId: string): Promise<TrackerView> {
  const { organisationId } = await requireTracker(deps, trackerId)
  const { plan } = await requireOrganisation(deps, organisationId)
  return { organisationId, trackerId, since: windowStart(deps.retentionDays, plan, deps.clock()) }
}

const everySubject = {
  sort: 'subjectId',
  subjectIdPrefix: null,
  lastSeenAfter: null,
  lastSeenBefore: null,
} as const
