import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SubjectCounts } from '../domain/activity.ts'
import type { BatchOfEntry, ErasureBatchStore } from '../domain/erasure-batch.ts'
import {
  type DescribedEntry,
  describeEntries,
  type ErasureDeps,
  type ErasureQuery,
  erasuresBefore,
} from './erasure.ts'
import { addCounts, maxGroupSize } from './group-activity.ts'

type Batch = BatchOfEntry['batch']

/** Consecutive erasures of one batch or request, listed as one; or an entry that nothing was held. */
export interface ErasureGroup {
  newest: DescribedEntry
  batch: Batch | null
  count: number
  counts: SubjectCounts
  trackerIds: Set<string>
}

interface GroupDeps extends ErasureDeps {
  erasureBatches: ErasureBatchStore
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
    const batches = await batchesOf(deps, organisationId, erasures)
    for (const erasure of erasures) {
      const batch = batches.get(erasure.index) ?? null
      const group = groups.at(-1)
      if (group && isTogether(group, erasure, batch)) extend(group, erasure)
      else if (groups.length === limit || first - erasure.index > maxPageErasures)
        return { groups, size, nextCursor: erasuresBefore(erasure.index + 1) }
      else groups.push(groupOf(erasure, batch))
    }
    await nextTurn()
  }
  return { groups, size, nextCursor: null }
}

/** The batches that erasures were part of, by index. */
export async function batchesOf(
  { erasureBatches }: Pick<GroupDeps, 'erasureBatches'>,
  organisationId: string,
  erasures: readonly DescribedEntry[],
): Promise<Map<number, Batch>> {
  const indexes = erasures.map(({ index }) => index)
  const found = await erasureBatches.ofEntries(organisationId, indexes)
  // Reversed: if an erasure settled items of several batches, the first batch is shown.
  return new Map(found.reverse().map(({ ledgerIndex, batch }) => [ledgerIndex, batch]))
}

function isTogether(group: ErasureGroup, erasure: DescribedEntry, batch: Batch | null): boolean {
  if (group.count >= maxGroupSize) return false
  if (group.batch || batch) return group.batch?.id === batch?.id
  const key = requestOf(erasure)
  return key !== null && key === requestOf(group.newest)
}

/** The request and the actor of an erasure, if they are known. */
function requestOf({ by }: DescribedEntry): string | null {
  if (by === null || by.requestId === null) return null
  return `${by.actor.kind === 'command-line' ? '' : by.actor.id} ${by.requestId}`
}

function groupOf(newest: DescribedEntry, batch: Batch | null): ErasureGroup {
  const group = { newest, batch, count: 0, counts: { sessions: 0, events: 0 }, trackerIds: new Set<string>() }
  extend(group, newest)
  return group
}

function extend(group: ErasureGroup, { record }: DescribedEntry): void {
  group.count += 1
  if (record.version !== 1) return
  group.counts = addCounts(group.counts, record.counts)
  group.trackerIds.add(record.trackerId)
}
