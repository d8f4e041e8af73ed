import assert from 'node:assert/strict'
import type { DataCounts, SubjectCounts } from '../../../../src/domain/activity.ts'
import type { IngestResult } from '../../../../src/domain/ingest.ts'
import type { Instant } from '../../../../src/domain/instant.ts'

/** An action on a subject and its result, between two times of the machine's clock. */
export type Action = { subject: string; startedAt: number; endedAt: number } & (
  | { kind: 'import'; age: 'fresh' | 'old'; at: Instant; events: number; told: IngestResult }
  | { kind: 'erase'; sees: 'all' | 'fresh'; told: SubjectCounts | null }
  | { kind: 'read'; sees: 'all' | 'fresh'; told: SubjectCounts | null }
  | { kind: 'sweep'; told: DataCounts }
)

/** What a subject holds of one age, and the instant of the newest part. */
interface Held extends SubjectCounts {
  newestAt: Instant
}

/** What a subject holds, fresh and aged out, and up to which instant an erasure refuses more. */
interface State {
  fresh: Held
  old: Held
  refusedUntil: Instant
}

const nothing: Held = { sessions: 0, events: 0, newestAt: 0 }

/** The state after an action, or `null` if the action could not have had its result in this state. */
function after({ fresh, old, refusedUntil }: State, action: Action): State | null {
  const seen = 'sees' in action && action.sees === 'fresh' ? sum(fresh, nothing) : sum(fresh, old)
  switch (action.kind) {
    case 'import': {
      if (action.at <= refusedUntil) {
        const refused = { subjects: 0, sessions: 0, events: 0, ofErased: 1 + action.events }
        return isSame(action.told, refused) ? { fresh, old, refusedUntil } : null
      }
      const isNew = fresh.sessions + old.sessions === 0
      const added = { sessions: 1, events: action.events }
      if (!isSame(action.told, { subjects: isNew ? 1 : 0, ...added })) return null
      const grown = (held: Held) => ({ ...sum(held, added), newestAt: Math.max(held.newestAt, action.at) })
      return action.age === 'fresh'
        ? { fresh: grown(fresh), old, refusedUntil }
        : { fresh, old: grown(old), refusedUntil }
    }
    case 'erase': {
      const until = Math.max(refusedUntil, fresh.newestAt, old.newestAt, 0)
      return isSame(action.told, seen) ? { fresh: nothing, old: nothing, refusedUntil: until } : null
    }
    case 'read':
      return isSame(action.told, seen.sessions === 0 ? null : seen) ? { fresh, old, refusedUntil } : null
    case 'sweep': {
      const { sessions, events } = old
      const subjects = fresh.sessions === 0 && sessions > 0 ? 1 : 0
      return isSame(action.told, { subjects, sessions, events })
        ? { fresh, old: nothing, refusedUntil }
        : null
    }
  }
}

/**
 * Fails unless there is an order of the actions, each at an instant within its duration, that explains every
 * result. Searches all orders, but no state twice.
 */
export function assertLinearizable(history: readonly Action[]): void {
  const actions = [...history].sort((a, b) => a.startedAt - b.startedAt)
  const isDone = actions.map(() => false)
  const failed = new Set<string>()
  let furthest = 0

  function explain(first: number, state: State): boolean {
    let from = first
    while (isDone[from]) from += 1
    if (from === actions.length) return true
    furthest = Math.max(furthest, from)
    const open: number[] = []
    let earliestEnd = Number.POSITIVE_INFINITY
    for (let i = from; i < actions.length && (actions[i]?.startedAt ?? 0) <= earliestEnd; i++) {
      if (isDone[i]) continue
      open.push(i)
      earliestEnd = Math.min(earliestEnd, actions[i]?.endedAt ?? 0)
    }
    const place = `${open} ${JSON.stringify(state)}`
    if (failed.has(place)) return false
    for (const i of open) {
      const action = actions[i]
      const next = action && after(state, action)
      if (!next) continue
      isDone[i] = true
      if (explain(from, next)) return true
      isDone[i] = false
    }
    failed.add(place)
    return false
  }

  const isExplained = explain(0, { fresh: nothing, old: nothing, refusedUntil: Number.NEGATIVE_INFINITY })
  const about = actions.slice(Math.max(0, furthest - 8), furthest + 8).map((action) => JSON.stringify(action))
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
