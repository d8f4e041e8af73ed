import type { ListRequestsQuery, PrivacyRequest, PrivacyRequestList, RequestCounts } from './api.ts'
import { ApiError } from './errors.ts'
import type { Listing } from './listing.ts'
import { type NewRequest, type PersonRef, requestIdsOf } from './new-request.ts'
import type { CallOptions, Transport } from './transport.ts'
import { isClosed } from './wait-for-request.ts'

export interface EraseManyOptions extends Pick<NewRequest, 'receivedAt'> {
  /** The reference of all requests, without personal data. With another, the same people are erased again. */
  reference: string
  /** Whether to wait for the erasures; otherwise they are only started. True if omitted. */
  isAwaited?: boolean | undefined
  /** Called before the first request and after each change. */
  onProgress?: ((progress: EraseManyProgress) => void) | undefined
  /** Stops with the signal's reason. The service continues with the erasures that were started. */
  signal?: AbortSignal | undefined
}

/** The progress of erasing many people. */
export interface EraseManyProgress {
  /** The number of distinct people. */
  total: number
  /** The number whose requests have been started, including those that are closed. */
  started: number
  /** The number whose requests are done. */
  done: number
  /** The number whose requests were done before, by an earlier run with the same reference. */
  doneBefore: number
  /** The number whose requests somebody rejected or cancelled. */
  stopped: number
  /** The number for whom the service refused a request. */
  failed: number
  /** What was erased, including earlier runs. */
  erased: RequestCounts
  /** When the service continues after the erasure budget is used up; otherwise `null`. */
  resumesAt: string | null
}

/** The result for one person. `started` is possible only if the erasures are not awaited. */
export type EraseManyOutcome =
  | { person: PersonRef; status: 'closed' | 'started'; request: PrivacyRequest }
  | { person: PersonRef; status: 'failed'; error: ApiError }

interface EraseManyDeps {
  transport: Transport
  requests: {
    create(request: NewRequest, options: CallOptions): Promise<PrivacyRequest>
    erase(id: string, options: CallOptions): Promise<PrivacyRequest>
    get(id: string, options: CallOptions): Promise<PrivacyRequest>
    list(query: ListRequestsQuery, options: CallOptions): Listing<PrivacyRequest, PrivacyRequestList>
  }
}

const firstPauseMs = 500
const longestPauseMs = 10_000
/** Requests that wait for a budget can be cancelled meanwhile. */
const longestRestMs = 300_000

export async function* eraseMany(
  { transport, requests }: EraseManyDeps,
  people: Iterable<PersonRef>,
  { reference, receivedAt, isAwaited = true, onProgress, signal }: EraseManyOptions,
): AsyncGenerator<EraseManyOutcome, void, undefined> {
  const { now, wait } = transport.runtime
  const byId = await requestIdsOf((text) => transport.keyedDigest(text), reference, people)
  const tally = new Tally(byId.size)
  const running = new Map<string, PersonRef>()
  const report = () => onProgress?.(tally.progress())

  async function start(requestId: string, person: PersonRef): Promise<PrivacyRequest> {
    const wanted = {
      kind: 'erasure' as const,
      person,
      reference,
      requestId,
      ...(receivedAt && { receivedAt }),
    }
    const request = await requests.create(wanted, { signal })
    if (request.state === 'done') tally.doneBefore += 1
    if (request.state !== 'open') return request
    return requests.erase(requestId, { signal }).catch(async (error) => {
      if (!(error instanceof ApiError)) throw error
      // Another run with the same reference may have erased it meanwhile.
      const current = await requests.get(requestId, { signal })
      if (isClosed(current)) return current
      throw error
    })
  }

  /** Reads the requests that were running, most of them as a list. */
  async function* settle(): AsyncGenerator<EraseManyOutcome, void, undefined> {
    const listed = new Map<string, PrivacyRequest>()
    for await (const request of requests.list({ state: 'running', kind: 'erasure' }, { signal }))
      if (running.has(request.requestId)) listed.set(request.requestId, request)
    tally.resumesAt = earliest([...listed.values()].flatMap(({ resumesAt }) => resumesAt ?? []))
    for (const [requestId, person] of running) {
      const request = listed.get(requestId) ?? (await requests.get(requestId, { signal }))
      tally.note(request)
      if (!isClosed(request)) continue
      running.delete(requestId)
      report()
      yield { person, status: 'closed', request }
    }
    report()
  }

  report()
  let pauseMs = firstPauseMs
  let settledAt = now()
  for (const [requestId, person] of byId) {
    let outcome: EraseManyOutcome | null = null
    try {
      const request = await start(requestId, person)
      tally.started += 1
      tally.note(request)
      if (isClosed(request)) outcome = { person, status: 'closed', request }
      else if (!isAwaited) outcome = { person, status: 'started', request }
      else running.set(requestId, person)
    } catch (error) {
      // The first one is refused if something is wrong with all of them.
      if (tally.started === 0 || !(error instanceof ApiError) || !isAboutOne(error)) throw error
      tally.failed += 1
      outcome = { person, status: 'failed', error }
    }
    report()
    if (outcome) yield outcome
    if (running.size === 0 || now() - settledAt < longestPauseMs) continue
    yield* settle()
    settledAt = now()
  }
  while (running.size > 0) {
    const restMs = tally.resumesAt === null ? 0 : Date.parse(tally.resumesAt) - now()
    await wait(Math.max(pauseMs, Math.min(restMs, longestRestMs)), signal)
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    yield* settle()
  }
}

/** Whether an error is about one person, and not about all. A reference can name one of them. */
function isAboutOne({ code, details }: ApiError): boolean {
  return (
    code === 'validation_error' &&
    details.every(({ field }) => /^(?:person|reference|requestId)\b/.test(field))
  )
}

function earliest(instants: readonly string[]): string | null {
  return instants.reduce<string | null>(
    (first, each) => (first === null || each < first ? each : first),
    null,
  )
}

/** Counts the results. */
class Tally {
  started = 0
  doneBefore = 0
  failed = 0
  resumesAt: string | null = null
  readonly #total: number
  #done = 0
  #stopped = 0
  readonly #erased: RequestCounts = { subjects: 0, sessions: 0, events: 0 }
  /** What a request had erased when it was last read. */
  readonly #noted = new Map<string, RequestCounts>()

  constructor(total: number) {
    this.#total = total
  }

  note({ requestId, state, erased }: PrivacyRequest): void {
    const before = this.#noted.get(requestId)
    for (const name of ['subjects', 'sessions', 'events'] as const)
      this.#erased[name] += erased[name] - (before?.[name] ?? 0)
    this.#noted.set(requestId, erased)
    if (state === 'done') this.#done += 1
    else if (state === 'rejected' || state === 'cancelled') this.#stopped += 1
  }

  progress(): EraseManyProgress {
    return {
      total: this.#total,
      started: this.started,
      done: this.#done,
      doneBefore: this.doneBefore,
      stopped: this.#stopped,
      failed: this.failed,
      erased: { ...this.#erased },
      resumesAt: this.resumesAt,
    }
  }
}
