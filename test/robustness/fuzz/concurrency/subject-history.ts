import assert from 'node:assert/strict'
import type { IngestCounts } from '../../../../src/domain/ingest.ts'
import type { SweptCounts } from '../../../../src/domain/retention.ts'
import type { SubjectCounts } from '../../../../src/domain/subject-counts.ts'

/** What somebody did to a subject and what they were told, between two instants of the machine's own clock. */
export type Deed = { subject: string; startedAt: number; endedAt: number } & (
  | { kind: 'import'; age: 'fresh' | 'old'; events: number; told: IngestCounts }
  | { kind: 'erase'; sees: 'all' | 'fresh'; told: SubjectCounts | null }
  | { kind: 'read'; sees: 'all' | 'fresh'; told: SubjectCounts | null }
  | { kind: 'sweep'; told: SweptCounts }
)

/** How much a subject holds, by whether it has aged out. */
interface State {
  fresh: SubjectCounts
  old: SubjectCounts
}

const nothing: SubjectCounts = { sessions: 0, events: 0 }

/** What a deed makes of a state when it is done in one go; `null` when it could not have been told what it was. */
function after({ fresh, old }: State, deed: Deed): State | null {
  const seen = 'sees' in deed && deed.sees === 'fresh' ? fresh : sum(fresh, old)
  switch (deed.kind) {
    case 'import': {
      const isNew = fresh.sessions + old.sessions === 0
      const added = { sessions: 1, events: deed.events }
      if (!isSame(deed.told, { subjects: isNew ? 1 : 0, ...added })) return null
      return deed.age === 'fresh' ? { fresh: sum(fresh, added), old } : { fresh, old: sum(old, added) }
    }
    case 'erase':
      return isSame(deed.told, seen) ? { fresh: nothing, old: nothing } : null
    case 'read':
      return isSame(deed.told, seen.sessions === 0 ? null : seen) ? { fresh, old } : null
    case 'sweep': {
      const subjects = fresh.sessions === 0 && old.sessions > 0 ? 1 : 0
      return isSame(deed.told, { subjects, ...old }) ? { fresh, old: nothing } : null
    }
  }
}

/**
 * Fails unless the deeds to one subject can be put into an order, each at some instant while it was under way, in which every one
 * was told what was there. Tries orders one after the other, and none twice that led to the same place.
 */
export function assertExplainable(history: readonly Deed[]): void {
  const deeds = [...history].sort((a, b) => a.startedAt - b.startedAt)
  const isDone = deeds.map(() => false)
  const failed = new Set<string>()
  let furthest = 0

  function explain(first: number, state: State): boolean {
    let from = first
    while (isDone[from]) from += 1
    if (from === deeds.length) return true
    furthest = Math.max(furthest, from)
    const open: number[] = []
    let earliestEnd = Number.POSITIVE_INFINITY
    for (let i = from; i < deeds.length && (deeds[i]?.startedAt ?? 0) <= earliestEnd; i++) {
      if (isDone[i]) continue
      open.push(i)
      earliestEnd = Math.min(earliestEnd, deeds[i]?.endedAt ?? 0)
    }
    const place = `${open} ${JSON.stringify(state)}`
    if (failed.has(place)) return false
    for (const i of open) {
      const deed = deeds[i]
      const next = deed && after(state, deed)
      if (!next) continue
      isDone[i] = true
      if (explain(from, next)) return true
      isDone[i] = false
    }
    failed.add(place)
    return false
  }

  const isExplained = explain(0, { fresh: nothing, old: nothing })
  const about = deeds.slice(Math.max(0, furthest - 8), furthest + 8).map((deed) => JSON.stringify(deed))
  assert.ok(isExplained, `no order explains what happened about here:\n${about.join('\n')}`)
}

function sum(a: SubjectCounts, b: SubjectCounts): SubjectCounts {
  return { sessions: a.sessions + b.sessions, events: a.events + b.events }
}

function isSame(a: object | null, b: object | null): boolean {
  if (a === null || b === null) return a === b
  const [told, expected] = [new Map(Object.entries(a)), Object.entries(b)]
  return told.size === expected.length && expected.every(([field, value]) => told.get(field) === value)
}
