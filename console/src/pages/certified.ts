import type { Certificate, LedgerErasure } from '../types.ts'
import type { Checked } from '../verify.ts'

/** What a certificate shows: verified entries of the ledger, and what they were for. */
export interface Certified {
  checked: readonly Checked[]
  /** The digest of the entries that a link to `/verify` names; `null` if the browser cannot compute it. */
  digest: string | null
  /** The erasure of a person that the entries are from; `null` for entries chosen by their numbers. */
  erasure: PersonErasure | null
}

export interface PersonErasure {
  /** Whether it was for a person, not only for one record. */
  isOfPerson: boolean
  missing: Missing
  /** How many records were found, but excluded by hand because they are not about the person. */
  excluded: number
  /** Who started it. */
  startedBy: Actor | null
  /** The request that it answers. */
  request: AnsweredRequest
}

interface AnsweredRequest {
  requestId: string
  kind: 'access' | 'erasure'
  state: 'open' | 'running' | 'done' | 'rejected' | 'cancelled'
  reference: string | null
  receivedAt: string
  dueAt: string
  /** When it was answered or cancelled. */
  closedAt: string | null
  /** How many records had data, including data that the plan hid, which entries do not count. */
  erased: { subjects: number }
  /** How many records a copy was of, if it was an access request. */
  found: { subjects: number }
}

/** How many records were not erased, by reason. */
export interface Missing {
  waiting: number
  stopped: number
  gone: number
  left: number
}

type Entry = Certificate['entry']
export type Actor = NonNullable<LedgerErasure['by']>['actor']

/** What happened, as a sentence says it. */
export interface Happened {
  what:
    | 'erased'
    | 'partly-erased'
    | 'none-erased'
    | 'erased-until-then'
    | 'erased-until-closed'
    | 'nothing-until-closed'
    | 'nothing-held'
  /** `count` is that of the records or identifiers. */
  whom: 'person' | 'records' | 'identifiers'
  count: number
}

/** What the entries of a certificate say together. */
export interface Summary {
  happened: Happened
  state: 'verified' | 'refused' | 'unknown' | 'incomplete'
  counts: { records: number; sessions: number; events: number }
  /** Whether data was erased that the plan hid. */
  hasHidden: boolean
  /** The instant of the last entry. */
  at: string
  /** Who erased or searched, each once; empty if that is no longer recorded. */
  actors: readonly Actor[]
  /** The ID of the request that was answered; otherwise those of the HTTP requests, each once. */
  requestIds: readonly string[]
  /** The numbers of the entries, such as `13–15, 17`. */
  numbers: string
}

export function summarise({ checked, erasure }: Certified): Summary {
  const entries = checked.map(({ certificate }) => certificate.entry)
  const erasures = entries.filter((entry) => entry.kind === 'erasure')
  const held = erasures.filter(({ counts }) => counts.sessions + counts.events > 0)
  const records = Math.max(held.length, erasure?.request.erased.subjects ?? 0)
  const missing = missingOf(erasure)
  const isDone = erasure === null || erasure.request.state === 'done'
  const by = erasures.flatMap((entry) => entry.by ?? [])
  return {
    happened: {
      what: whatHappened(records, missing, isDone),
      ...whomItIsAbout(records || erasures.length, entries.length, erasure),
    },
    state: stateOf(checked, isDone && missing === 'nothing'),
    counts: {
      records,
      sessions: held.reduce((sum, { counts }) => sum + counts.sessions, 0),
      events: held.reduce((sum, { counts }) => sum + counts.events, 0),
    },
    hasHidden: records > held.length,
    at: entries.map(instantOf).toSorted().at(-1) ?? '',
    actors: by.length > 0 ? distinct(by.map(({ actor }) => actor)) : starterOf(erasure),
    requestIds: erasure
      ? [erasure.request.requestId]
      : distinct(by.flatMap(({ requestId }) => requestId ?? [])),
    numbers: rangesOf(entries.map(({ index }) => index + 1)),
  }
}

function starterOf(erasure: PersonErasure | null): Actor[] {
  return erasure?.startedBy ? [erasure.startedBy] : []
}

function missingOf(erasure: PersonErasure | null): 'nothing' | 'only-later-data' | 'something' {
  if (!erasure) return 'nothing'
  const { left, waiting, stopped, gone } = erasure.missing
  if (waiting + stopped + gone > 0) return 'something'
  return left > 0 ? 'only-later-data' : 'nothing'
}

/** Without its last search, a request that was cancelled does not know everything that was held. */
function whatHappened(
  held: number,
  missing: ReturnType<typeof missingOf>,
  isDone: boolean,
): Happened['what'] {
  if (missing === 'something') return held > 0 ? 'partly-erased' : 'none-erased'
  if (!isDone) return held > 0 ? 'erased-until-closed' : 'nothing-until-closed'
  if (missing === 'only-later-data') return 'erased-until-then'
  return held > 0 ? 'erased' : 'nothing-held'
}

function whomItIsAbout(
  records: number,
  entries: number,
  erasure: PersonErasure | null,
): Pick<Happened, 'whom' | 'count'> {
  const request = erasure?.request
  // Something is held under the other identifiers.
  if (request?.kind === 'access' && request.found.subjects > 0) return { whom: 'identifiers', count: entries }
  if (erasure?.isOfPerson) return { whom: 'person', count: 1 }
  if (records > 0) return { whom: 'records', count: records }
  // An entry is about one identifier, and the person may have others.
  return { whom: 'identifiers', count: entries }
}

function stateOf(checked: readonly Checked[], isComplete: boolean): Summary['state'] {
  const states = checked.map(({ verdict }) => verdict.state)
  const bad = (['refused', 'unknown'] as const).find((state) => states.includes(state))
  return bad ?? (isComplete ? 'verified' : 'incomplete')
}

export function instantOf(entry: Entry): string {
  return entry.kind === 'erasure' ? entry.erasedAt : entry.checkedAt
}

function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}

/** More would not fit in a heading. */
const maxRanges = 4

/** Numbers as ranges: `13–15, 17`. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: { from: number; to: number }[] = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last && number <= last.to + 1) last.to = number
    else ranges.push({ from: number, to: number })
  }
  const texts = ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`))
  return texts.length > maxRanges ? `${texts.slice(0, maxRanges).join(', ')}, …` : texts.join(', ')
}

/** How many calendar days, in UTC, lie between two instants. */
export function daysBetween(from: string, to: string): number {
  const dayOf = (at: string) => Date.parse(at.slice(0, 10))
  return Math.round((dayOf(to) - dayOf(from)) / 86_400_000)
}
