import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SubjectCounts } from '../domain/activity.ts'
import type { NamedRequest, PrivacyRequestStore } from '../domain/privacy-request.ts'
import {
  type DescribedEntry,
  describeEntries,
  type ErasureDeps,
  type ErasureQuery,
  erasuresBefore,
} from './erasure.ts'
import { addCounts, maxGroupSize } from './group-activity.ts'

/** Consecutive entries of one request, or of requests with one reference, listed as one. */
interface ErasureGroup {
  newest: DescribedEntry
  request: NamedRequest | null
  /** Who erased; `null` if that is no longer recorded, or if every entry says that nothing was held. */
  by: DescribedEntry['by']
  count: number
  /** How many of the entries are erasures of data. */
  erased: number
  counts: SubjectCounts
  trackerIds: Set<string>
}

interface GroupDeps extends ErasureDeps {
  privacyRequests: PrivacyRequestStore
}

/** A page also ends after this many erasures. */
const maxPageErasures = 10_000
const chunkSize = 100

/** Newest first. No group is split by the end of a page. */
export async function listErasureGroups(
  deps: GroupDeps,
  organisationId: string,
  { limit, before }: ErasureQuery,
): Promise<{ groups: ErasureGroup[]; size: number; nextCursor: string | null }> {
  const size = (await deps.ledger.head(organisationId))?.frontier.size ?? 0
  const groups: ErasureGroup[] = []
  const first = Math.min(before ?? size, size)
  for (let end = first; end > 0; end -= chunkSize) {
    const start = Math.max(0, end - chunkSize)
    const entries = await deps.ledger.list(organisationId, start, end - start)
    const erasures = await describeEntries(deps, organisationId, entries.reverse())
    const requests = await requestsOf(deps, organisationId, erasures)
    for (const erasure of erasures) {
      const request = requests.get(erasure.index) ?? null
      const group = groups.at(-1)
      if (group && isTogether(group, erasure, request)) extend(group, erasure)
      else if (groups.length === limit || first - erasure.index > maxPageErasures)
        return { groups, size, nextCursor: erasuresBefore(erasure.index + 1) }
      else groups.push(groupOf(erasure, request))
    }
    await nextTurn()
  }
  return { groups, size, nextCursor: null }
}

/** The requests that erasures were part of, by index. */
export async function requestsOf(
  { privacyRequests }: Pick<GroupDeps, 'privacyRequests'>,
  organisationId: string,
  erasures: readonly DescribedEntry[],
): Promise<Map<number, NamedRequest>> {
  const indexes = erasures.map(({ index }) => index)
  const found = await privacyRequests.ofEntries(organisationId, indexes)
  // Reversed: if an erasure settled items of several requests, the newest is shown.
  return new Map(found.reverse().map(({ ledgerIndex, request }) => [ledgerIndex, request]))
}

function isTogether(group: ErasureGroup, erasure: DescribedEntry, request: NamedRequest | null): boolean {
  if (group.count >= maxGroupSize) return false
  if (group.request && request)
    return (
      group.request.id === request.id ||
      (request.reference !== null && group.request.reference === request.reference)
    )
  if (group.request || request) return false
  const key = callOf(erasure)
  return key !== null && key === callOf(group.newest)
}

/** The HTTP request and the actor of an erasure, if they are known. */
function callOf({ by }: DescribedEntry): string | null {
  if (by === null || by.requestId === null) return null
  return `${by.actor.kind === 'command-line' ? '' : by.actor.id} ${by.requestId}`
}

function groupOf(newest: DescribedEntry, request: NamedRequest | null): ErasureGroup {
  const group: ErasureGroup = {
    newest,
    request,
    by: null,
    count: 0,
    erased: 0,
    counts: { sessions: 0, events: 0 },
    trackerIds: new Set(),
  }
  extend(group, newest)
  return group
}

function extend(group: ErasureGroup, { record, by }: DescribedEntry): void {
  group.count += 1
  if (record.version !== 1) return
  group.by ??= by
  if (!record.alreadyErased) group.erased += 1
  group.counts = addCounts(group.counts, record.counts)
  group.trackerIds.add(record.trackerId)
}
