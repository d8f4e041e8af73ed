import type { JournalledClosing } from '../domain/closed-request.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import { closingName, type KnownChanges } from '../domain/journal.ts'
import type { Replayed } from '../domain/replay.ts'
import { startOfWindow } from '../domain/retention.ts'
import type { Store } from '../domain/store.ts'
import { listClosed } from './journal-closing.ts'

type ReplayDeps = Pick<Store, 'replay' | 'privacyRequests'>

/**
 * Collects the closings that a store lacks. They are applied after the ledgers, because repairing a ledger moves
 * the entries to which its own requests refer.
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
    if ((await this.#closed).has(closingName(line))) return
    const key = `${closingName(line)} ${line.at}`
    const lines = this.#lines.get(key) ?? new Map<number, JournalledClosing>()
    this.#lines.set(key, lines.set(line.from, line))
  }

  /** Applies what was collected, also if a line of it is missing. */
  async end(keptSince: Instant, done: Replayed): Promise<void> {
    for (const byPosition of this.#lines.values()) {
      const lines = [...byPosition.values()].sort((a, b) => a.from - b.from)
      if (!(await this.#store.replay.closeRequest(lines, keptSince))) continue
      done.closedRequests += 1
      const [first] = lines
      if (first && !isWhole(lines))
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
  store: ReplayDeps & Pick<Store, 'organisations'> & SweepDeps,
  { closings }: KnownChanges,
): Promise<boolean> {
  if (closings.size === 0) return false
  const keptSince = closingsKeptSince(store)
  const closed = await namesOfClosed(store)
  for (const [name, { organisationId, id, at }] of closings) {
    if (closed.has(name)) continue
    if ((await store.organisations.find(organisationId)) === null) continue
    if (at >= keptSince || (await store.privacyRequests.find({ organisationId, id })) !== null) return true
  }
  return false
}

interface SweepDeps {
  clock: Clock
  activityDays: number
}

/** Requests that were closed earlier are swept. */
export function closingsKeptSince({ clock, activityDays }: SweepDeps): Instant {
  return startOfWindow(activityDays, clock())
}

async function namesOfClosed(store: Pick<Store, 'privacyRequests'>): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for await (const ref of listClosed(store)) names.add(closingName(ref))
  return names
}
