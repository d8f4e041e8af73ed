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

interface DerivationOptions {
  sources: readonly IdentifierSource[]
  dryRun?: boolean
  /** Called after every step with the result and the share done, from 0 to 1; `null` if it is unknown. */
  onProgress?(derived: Derivation, share: number | null): void
  /** Cancels between two steps, with the signal's reason. */
  signal?: AbortSignal
}

export interface Derivation {
  subjects: number
  /** New identifiers, and those that are now stored longer. */
  added: number
  renewed: number
  /** Identifiers of subjects that cannot have more. */
  refused: number
  /** Values that are not valid identifiers. */
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
/** Limits memory: a page of each is held at the same time. */
const subjectsRead = 8
/** The size of a transaction, small enough that an erasure hardly waits for it. */
const maxPerTransaction = 500
/** Counting further would take too long. */
const maxCounted = 1_000_000

/**
 * Derives identifiers from a tracker's stored data in small steps; after an interruption, it adds what is
 * missing. Throws `not_found` if the tracker does not exist, or is deleted meanwhile.
 */
export async function deriveIdentifiers(
  deps: DerivationDeps,
  trackerId: string,
  { sources, dryRun = false, onProgress, signal }: DerivationOptions,
): Promise<Derivation> {
  const { subjects, derivation } = deps
  const tracker = await viewOf(deps, trackerId)
  const expected = await subjects.count(tracker, maxCounted)
  const total: Derivation = { subjects: 0, added: 0, renewed: 0, refused: 0, unusable: 0 }
  const kinds = (['session', 'event'] as const).filter((kind) => sources.some((each) => each.kind === kind))

  async function store(derived: readonly DerivedIdentifier[]): Promise<void> {
    for (let from = 0; from < derived.length; from += maxPerTransaction) {
      const { missing, counts } = await derivation.missing(
        tracker,
        derived.slice(from, from + maxPerTransaction),
      )
      const stored = dryRun || missing.length === 0 ? counts : await derivation.add(tracker, missing)
      total.refused += counts.refused ?? 0
      // Of those that others have filled up meanwhile.
      if (stored !== counts) total.refused += stored.refused ?? 0
      total.added += stored.added
      total.renewed += stored.renewed
    }
  }

  /** Flushes early if a subject has many identifiers. */
  async function read(subjectId: string): Promise<DerivedIdentifier[]> {
    const found = new FoundIdentifiers(subjectId, sources)
    for (const kind of kinds) {
      const fields = sources.filter((each) => each.kind === kind).map(({ field }) => field)
      for (let after: SourceRow | null = null; ; ) {
        // A store may respond immediately, so signals and progress need a turn of the event loop.
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
        if (found.size >= maxPerTransaction) await store(found.take())
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
    await store(waiting)
    total.subjects += page.rows.length
    const isCounted = expected !== null && expected > 0 && expected < maxCounted
    onProgress?.({ ...total }, isCounted ? Math.min(1, total.subjects / expected) : null)
    after = page.next
    if (after === null) return total
  }
}

/** What the organisation's plan shows of a tracker now. */
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
