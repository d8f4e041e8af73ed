import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ActivityEntry, ActivityKind, ActivityStore, SubjectCounts } from '../domain/activity.ts'
import type { Instant } from '../domain/instant.ts'
import { maxPageSize } from '../domain/page.ts'
import { activityCursor, type planActivityList } from './activity.ts'

/** Consecutive entries of one request, listed as one. */
export interface ActivityGroup {
  newest: ActivityEntry
  oldestAt: Instant
  count: number
  /** How many entries of each kind. */
  kinds: Map<ActivityKind, number>
  /** What all its erasures deleted. */
  counts: SubjectCounts | null
  /** The ledger entry of its only erasure; `null` if it has none or several. */
  ledgerIndex: number | null
}

/** Bounds a group, because a client can send any number of requests with the same ID. */
export const maxGroupSize = 10_000
/** A page also ends after this many entries. */
const maxPageEntries = 10_000

/**
 * Newest first. Only consecutive entries are grouped, so that the list stays in order, and no group is split
 * by the end of a page.
 */
export async function listActivityGroups(
  { activity }: { activity: ActivityStore },
  organisationId: string,
  { filters, limit, ...query }: ReturnType<typeof planActivityList>,
): Promise<{ groups: ActivityGroup[]; nextCursor: string | null }> {
  const groups: ActivityGroup[] = []
  let last: ActivityEntry | null = null
  let read = 0
  for (let { after } = query; ; await nextTurn()) {
    const { rows, next } = await activity.list(organisationId, { ...query, limit: maxPageSize, after })
    for (const entry of rows) {
      const group = groups.at(-1)
      if (group && isOfSameRequest(group.newest, entry) && group.count < maxGroupSize) extend(group, entry)
      else if (last && (groups.length === limit || read >= maxPageEntries))
        return { groups, nextCursor: activityCursor(organisationId, filters, last) }
      else groups.push(groupOf(entry))
      last = entry
      read += 1
    }
    if (next === null) return { groups, nextCursor: null }
    after = next
  }
}

function isOfSameRequest(one: ActivityEntry, other: ActivityEntry): boolean {
  return one.requestId !== null && one.requestId === other.requestId && actorOf(one) === actorOf(other)
}

function actorOf({ actor }: ActivityEntry): string {
  return actor.kind === 'command-line' ? actor.kind : actor.id
}

function groupOf(entry: ActivityEntry): ActivityGroup {
  const { at, kind, counts, ledgerIndex } = entry
  return { newest: entry, oldestAt: at, count: 1, kinds: new Map([[kind, 1]]), counts, ledgerIndex }
}

function extend(group: ActivityGroup, { at, kind, counts, ledgerIndex }: ActivityEntry): void {
  group.oldestAt = at
  group.count += 1
  group.kinds.set(kind, (group.kinds.get(kind) ?? 0) + 1)
  if (counts) {
    group.ledgerIndex = group.counts === null ? ledgerIndex : null
    group.counts = addCounts(group.counts, counts)
  }
}

export function addCounts(sum: SubjectCounts | null, { sessions, events }: SubjectCounts): SubjectCounts {
  return { sessions: (sum?.sessions ?? 0) + sessions, events: (sum?.events ?? 0) + events }
}
