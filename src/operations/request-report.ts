import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Problems } from '../domain/errors.ts'
import { type Clock, dayMs, type Instant } from '../domain/instant.ts'
import { formatMonth, type Month, monthOf, parseMonth, startOfMonth } from '../domain/month.ts'
import { type PrivacyRequestKind, requestKinds } from '../domain/privacy-request.ts'
import {
  isInTime,
  type ReceivedPosition,
  type ReportedRequest,
  type RequestReportStore,
} from '../domain/request-report.ts'
import type { FairQueue, GiveWay } from '../domain/semaphore.ts'
import { csvLine } from './csv.ts'

/** Both months are inclusive. */
interface MonthRange {
  from: Month
  to: Month
}

/** Cancelled requests count nowhere. */
interface RequestFigures {
  received: number
  done: number
  rejected: number
  /** Open or running. */
  open: number
  /** Of the open ones. */
  overdue: number
  /** Answered by the due date. */
  inTime: number
  /** Answered later, or overdue. */
  late: number
  /** From receipt to the answer, of the requests that are done; `null` if there are none. */
  medianMs: number | null
  worstMs: number | null
}

interface MonthFigures extends RequestFigures {
  month: Month
  kind: PrivacyRequestKind
}

export interface RequestReport extends MonthRange {
  at: Instant
  /** Months in ascending order; only those with requests. */
  months: MonthFigures[]
  /** All months: each kind with requests, then both (`null`). */
  totals: (RequestFigures & { kind: PrivacyRequestKind | null })[]
}

interface RequestReportDeps {
  requestReports: RequestReportStore
  clock: Clock
  jobs: FairQueue
}

const maxMonths = 120
/** Read between two turns of the event loop: about a millisecond of work. */
const chunkSize = 1_000

/** The last 12 months by default. */
export function readMonthRange(
  range: { from?: string; to?: string },
  now: Instant,
  problems: Problems,
): MonthRange {
  const read = (field: 'from' | 'to', other: Month): Month => {
    const text = range[field]
    const month = text === undefined ? other : parseMonth(text)
    if (month === null) problems.add(field, `${field} must be a month, such as 2026-01`)
    return month ?? other
  }
  const to = read('to', monthOf(now))
  const from = read('from', to - 11)
  if (from > to) problems.add('from', `from must not be after ${formatMonth(to)}`)
  if (to - from >= maxMonths) problems.add('from', `from must be at most ${maxMonths} months before the end`)
  return { from, to }
}

/** Yields to other requests. */
export function reportRequests(
  { requestReports, clock, jobs }: RequestReportDeps,
  organisationId: string,
  { from, to }: MonthRange,
  signal?: AbortSignal,
): Promise<RequestReport> {
  const range = { from: startOfMonth(from), to: startOfMonth(to + 1), limit: chunkSize }
  const work = async (giveWay: GiveWay): Promise<RequestReport> => {
    const at = clock()
    const tallies = new Tallies()
    let after: ReceivedPosition | null = null
    do {
      const page = await requestReports.received(organisationId, { ...range, after })
      for (const request of page.rows) tallies.add(request, at)
      after = page.next
      await nextTurn()
      await giveWay()
      signal?.throwIfAborted()
    } while (after !== null)
    return { from, to, at, months: tallies.months(), totals: tallies.totals() }
  }
  return jobs.run(organisationId, work, signal)
}

/** The requests of a kind in a month. */
class Tally {
  received = 0
  done = 0
  rejected = 0
  overdue = 0
  inTime = 0
  late = 0
  readonly answerMs: number[] = []

  add(request: ReportedRequest, now: Instant): void {
    const { state, receivedAt, closedAt } = request
    const wasInTime = isInTime(request, now)
    this.received += 1
    if (wasInTime === true) this.inTime += 1
    if (wasInTime === false) this.late += 1
    if (closedAt === null && wasInTime === false) this.overdue += 1
    if (state === 'rejected') this.rejected += 1
    if (state === 'done') this.done += 1
    if (state === 'done' && closedAt !== null) this.answerMs.push(closedAt - receivedAt)
  }
}

class Tallies {
  readonly #tallies = new Map<Month, Record<PrivacyRequestKind, Tally>>()

  add(request: ReportedRequest, now: Instant): void {
    if (request.state === 'cancelled') return
    const month = monthOf(request.receivedAt)
    const known = this.#tallies.get(month) ?? { access: new Tally(), erasure: new Tally() }
    this.#tallies.set(month, known)
    known[request.kind].add(request, now)
  }

  /** The requests arrive in order. */
  months(): MonthFigures[] {
    return [...this.#tallies].flatMap(([month, byKind]) =>
      requestKinds
        .filter((kind) => byKind[kind].received > 0)
        .map((kind) => ({ month, kind, ...figuresOf([byKind[kind]]) })),
    )
  }

  totals(): RequestReport['totals'] {
    const all = [...this.#tallies.values()]
    const byKind = requestKinds.map((kind) => ({ kind, ...figuresOf(all.map((each) => each[kind])) }))
    const both = figuresOf(all.flatMap((each) => Object.values(each)))
    return [...byKind.filter(({ received }) => received > 0), { kind: null, ...both }]
  }
}

function figuresOf(tallies: readonly Tally[]): RequestFigures {
  const sum = (name: 'received' | 'done' | 'rejected' | 'overdue' | 'inTime' | 'late') =>
    tallies.reduce((sum, each) => sum + each[name], 0)
  const [received, done, rejected] = [sum('received'), sum('done'), sum('rejected')]
  return {
    ...{ received, done, rejected, open: received - done - rejected, overdue: sum('overdue') },
    ...{ inTime: sum('inTime'), late: sum('late') },
    ...medianAndWorst(tallies.flatMap(({ answerMs }) => answerMs)),
  }
}

function medianAndWorst(answerMs: readonly number[]): Pick<RequestFigures, 'medianMs' | 'worstMs'> {
  // Numbers are sorted as such, and ten times faster than in a plain array.
  const sorted = Float64Array.from(answerMs).sort()
  const [below, above] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  if (below === undefined || above === undefined) return { medianMs: null, worstMs: null }
  return { medianMs: Math.round((below + above) / 2), worstMs: sorted.at(-1) ?? above }
}

const columns = [
  ...['month', 'kind', 'received', 'done', 'rejected', 'open', 'overdue', 'inTime', 'late'],
  ...['shareInTime', 'medianDays', 'worstDays'],
]

/** A line per month and kind, without totals, for a spreadsheet. */
export function toReportCsv({ months }: RequestReport): string {
  const lines = months.map(({ month, kind, medianMs, worstMs, ...counts }) => {
    const { received, done, rejected, open, overdue, inTime, late } = counts
    return csvLine([
      ...[formatMonth(month), kind, received, done, rejected, open, overdue, inTime, late],
      ...[inTime + late === 0 ? '' : rounded(inTime / (inTime + late)), inDays(medianMs), inDays(worstMs)],
    ])
  })
  return [csvLine(columns), ...lines].join('')
}

function inDays(ms: number | null): number | '' {
  return ms === null ? '' : rounded(ms / dayMs)
}

function rounded(number: number): number {
  return Math.round(number * 1_000) / 1_000
}
