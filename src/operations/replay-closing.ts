import type { ActivityStore } from '../domain/activity.ts'
import type { JournalledClosing } from '../domain/closed-request.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import { closingName, type KnownChanges, refOf } from '../domain/journal.ts'
import type { Replayed } from '../domain/replay.ts'
import { startOfWindow } from '../domain/retention.ts'
import type { Store } from '../domain/store.ts'
import { listClosed } from './journal-closing.ts'

type ReplayDeps = Pick<Store, 'replay' | 'privacyRequests'>

/**
 * Collects the closings that a store lacks. They are applied after the ledgers, because repairing a ledger
 * moves the entries to which its own requests refer.
 */
export class ClosingReplay {
  readonly #store: ReplayDeps
  /** Requests that are closed in the store. */
  #closed: Promise<ReadonlySet<string>> | null = null
  /** The lines of each closing, by request and instant. */
  readonly #lines = new Map<string, Map<number, JournalledClosing>>()

  constructor(store: ReplayDeps) {
    this.#store = store
  }

  async add(line: JournalledClosing): Promise<void> {
    this.#closed ??= namesOfClosed(this.#store)
    const name = closingName(refOf(line))
    if ((await this.#closed).has(name)) return
    const key = `${name} ${line.at}`
    const lines = this.#lines.get(key) ?? new Map<number, JournalledClosing>()
    this.#lines.set(key, lines.set(line.from, line))
  }

  /** Applies what was collected, also if a line of it is missing. */
  async end(keptSince: KeptSince, done: Replayed): Promise<void> {
    for (const byPosition of this.#lines.values()) {
      const lines = [...byPosition.values()].sort((a, b) => a.from - b.from)
      const [first] = lines
      if (!first) continue
      if (!(await this.#store.replay.closeRequest(lines, await keptSince(first.organisationId)))) continue
      done.closedRequests += 1
      if (!isWhole(lines))
        done.problems.push(
          `No journal holds all lines of the request ${first.id} of the organisation "${first.organisationId}": it is closed, but its certificate lacks entries.`,
        )
    }
  }
}

function isWhole(lines: readonly JournalledClosing[]): boolean {
  let next = 0
  for (const { from, items } of lines) {
    if (from !== next) return false
    next += items.length
  }
  return lines.at(-1)?.isLast === true
}

/** Whether a store lacks closings of a journal, apart from those that it has swept. */
export async function lacksClosing(
  store: ReplayDeps & Pick<Store, 'organisations' | 'activity'> & SweepDeps,
  { closings }: KnownChanges,
): Promise<boolean> {
  if (closings.size === 0) return false
  const keptSince = closingsKeptSince(store)
  const closed = await namesOfClosed(store)
  for (const [name, { organisationId, id, createdAt, at }] of closings) {
    if (closed.has(name)) continue
    if ((await store.organisations.find(organisationId)) === null) continue
    const found = await store.privacyRequests.find({ organisationId, id })
    if (found === null ? at >= (await keptSince(organisationId)) : found.createdAt === createdAt) return true
  }
  return false
}

interface SweepDeps {
  activity: ActivityStore
  clock: Clock
  activityDays: number
}

/** Requests of an organisation that were closed earlier, and that a store does not have, were swept. */
export type KeptSince = (organisationId: string) => Promise<Instant>

/**
 * Closed requests are swept with the activity log. What remains of it shows what was swept, even if the
 * window was shorter or the clock ahead at that time.
 */
export function closingsKeptSince({ activity, clock, activityDays }: SweepDeps): KeptSince {
  const start = startOfWindow(activityDays, clock())
  const known = new Map<string, Instant>()
  return async (organisationId) => {
    const since =
      known.get(organisationId) ??
      Math.max(start, (await activity.oldest(organisationId)) ?? Number.POSITIVE_INFINITY)
    known.set(organisationId, since)
    return since
  }
}

async function namesOfClosed(store: Pick<Store, 'privacyRequests'>): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for await (const ref of listClosed(store)) names.add(closingName(ref))
  return names
}
