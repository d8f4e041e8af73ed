import {
  type Consistency,
  type EntryList,
  type Erasure,
  type Event,
  type EventList,
  type FoundSubject,
  type FoundSubjectList,
  isConsistency,
  isEntryList,
  isErasure,
  isEventList,
  isFoundSubjectList,
  isLedger,
  isReceiptList,
  isSessionList,
  isSubject,
  isSubjectList,
  type Ledger,
  type LedgerEntry,
  type ListEntriesQuery,
  type ListEventsQuery,
  type ListReceiptsQuery,
  type ListSessionsQuery,
  type ListSubjectsQuery,
  type Receipt,
  type ReceiptList,
  type Session,
  type SessionList,
  type Subject,
  type SubjectList,
  type SubjectSummary,
} from './api.ts'
import type { BatchProgress } from './batch-tally.ts'
import {
  type BatchDeps,
  type BatchOptions,
  type BatchOutcome,
  distinctIds,
  eraseBatch,
  planBatch,
} from './erase-batch.ts'
import type { ErasureReport } from './erasure-report.ts'
import { UnexpectedAnswerError } from './errors.ts'
import { type Answer, exchange, type Outgoing } from './exchange.ts'
import { pathSegment } from './identifier.ts'
import { Listing } from './listing.ts'
import { openStream } from './open-stream.ts'
import { erasePerson, type PersonExport, type PersonOutcome, type Sought, type SubjectRef } from './person.ts'
import { type AttemptState, defaultRetryPolicy, type RetryPolicy, repeat } from './repeat.ts'
import {
  baseUrl,
  ledgerPath,
  queryString,
  requestIdHeader,
  searchPath,
  subjectPath,
  subjectsPath,
} from './request-parts.ts'
import { type Runtime, systemRuntime } from './runtime.ts'
import { SubjectExport } from './subject-export.ts'

export interface LetheClientOptions {
  /** Where the service is, such as `https://lethe.example`. A path in it stands in front of the API's. */
  url: string
  /** The key string, `lethe_…`. */
  apiKey: string
  /** How long one attempt may take, its last byte included; 30,000 without it. */
  timeoutMs?: number | undefined
  /** When to stop repeating what failed in passing. */
  retry?: Partial<RetryPolicy> | undefined
  /** What to send requests with instead of the runtime's own `fetch`. */
  fetch?: typeof fetch | undefined
  /** Time and chance, for tests. */
  runtime?: Runtime | undefined
}

/** What any call takes. */
export interface CallOptions {
  signal?: AbortSignal | undefined
  /** The name of the request in the service's log and in errors: 1 to 200 printable ASCII characters, nothing personal. */
  requestId?: string | undefined
  /** Instead of the client's. */
  timeoutMs?: number | undefined
}

interface Call<Data> extends CallOptions {
  method?: Outgoing['method']
  path: string
  query?: object
  /** Sent as JSON. */
  body?: object
  isData(value: unknown): value is Data
  onBudget?: Outgoing['onBudget']
}

const maxPageSize = 200
const jsonHeader = { 'content-type': 'application/json' }

/** A client of one Lethe service, acting with one API key. */
export class LetheClient {
  readonly #url: string
  readonly #headers: Record<string, string>
  readonly #fetch: typeof fetch
  readonly #timeoutMs: number
  readonly #policy: RetryPolicy
  readonly #runtime: Runtime

  constructor({ url, apiKey, timeoutMs = 30_000, retry, fetch, runtime }: LetheClientOptions) {
    this.#url = baseUrl(url)
    if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('apiKey must be the string of an API key.')
    this.#headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' }
    // Some runtimes want their own fetch called as a function of nothing else.
    this.#fetch = fetch ?? ((...request) => globalThis.fetch(...request))
    this.#timeoutMs = timeoutMs
    this.#policy = { ...defaultRetryPolicy, ...retry }
    this.#runtime = runtime ?? systemRuntime
  }

  /** The data subjects of a tracker. */
  listSubjects(
    trackerId: string,
    { cursor, ...query }: ListSubjectsQuery = {},
    options: CallOptions = {},
  ): Listing<SubjectSummary, SubjectList> {
    const path = subjectsPath(trackerId)
    return this.#list(path, isSubjectList, ({ subjects }) => subjects, { query, cursor, ...options })
  }

  /** What is stored about a data subject, without its sessions and events. */
  async readSubject(trackerId: string, subjectId: string, options: CallOptions = {}): Promise<Subject> {
    const path = subjectPath(trackerId, subjectId)
    return (await this.#repeat({ ...options, path, isData: isSubject })).data
  }

  /**
   * The data subjects of a person, in every tracker of the organisation, by what they are known by (`email` without regard to case), or
   * those with an id. Nobody found is an empty list.
   */
  searchSubjects(
    sought: Sought,
    { cursor, limit }: { limit?: number | undefined; cursor?: string | undefined } = {},
    options: CallOptions = {},
  ): Listing<FoundSubject, FoundSubjectList> {
    const body = { ...sought, limit: limit ?? maxPageSize }
    return this.#pages(
      isFoundSubjectList,
      ({ subjects }) => subjects,
      cursor,
      options,
      (cursor) => ({
        ...{ method: 'POST', path: searchPath, body: { ...body, cursor } },
      }),
    )
  }

  /** The sessions of a data subject, newest first. */
  listSessions(
    trackerId: string,
    subjectId: string,
    { cursor, ...query }: ListSessionsQuery = {},
    options: CallOptions = {},
  ): Listing<Session, SessionList> {
    const path = `${subjectPath(trackerId, subjectId)}/sessions`
    return this.#list(path, isSessionList, ({ sessions }) => sessions, { query, cursor, ...options })
  }

  /** The events of a data subject, newest first. */
  listEvents(
    trackerId: string,
    subjectId: string,
    { cursor, ...query }: ListEventsQuery = {},
    options: CallOptions = {},
  ): Listing<Event, EventList> {
    const path = `${subjectPath(trackerId, subjectId)}/events`
    return this.#list(path, isEventList, ({ events }) => events, { query, cursor, ...options })
  }

  /** All that is stored about a data subject at one moment, in one request. */
  exportSubject(trackerId: string, subjectId: string, options: CallOptions = {}): SubjectExport {
    return new SubjectExport({
      owner: { trackerId, subjectId },
      requestId: options.requestId ?? null,
      open: () => this.#open(`${subjectPath(trackerId, subjectId)}/export`, options),
    })
  }

  /** All that is stored about a person: each of its data subjects in every tracker, with an export that is read when it is consumed. */
  async *exportPerson(
    sought: Sought,
    options: CallOptions = {},
  ): AsyncGenerator<PersonExport, void, undefined> {
    for await (const found of this.searchSubjects(sought, {}, options)) {
      yield { found, export: this.exportSubject(found.trackerId, found.subjectId, options) }
    }
  }

  /**
   * Erases all of a person's data subjects in every tracker, spread across the hour, with an outcome for each: those that are found now,
   * or those that were found before. With a journal, hand over the latter: who is erased is not found again.
   */
  async *erasePerson(
    who: Sought | readonly SubjectRef[],
    options: BatchOptions = {},
  ): AsyncGenerator<PersonOutcome, void, undefined> {
    const subjects: SubjectRef[] = []
    if (Symbol.iterator in who) subjects.push(...who)
    else for await (const found of this.searchSubjects(who)) subjects.push(found)
    const { url, runtime, policy } = { url: this.#url, runtime: this.#runtime, policy: this.#policy }
    const erase = (
      { trackerId, subjectId }: SubjectRef,
      state: AttemptState,
      onBudget: Outgoing['onBudget'],
    ) => this.#eraseOnce(trackerId, subjectId, state, { onBudget })
    yield* erasePerson(subjects, { url, runtime, policy, erase }, options)
  }

  /** Erases a data subject for good. Safe to repeat, and therefore repeated when no answer comes. */
  eraseSubject(trackerId: string, subjectId: string, options: CallOptions = {}): Promise<ErasureReport> {
    return repeat(this.#runtime, this.#policy, options.signal, (state) =>
      this.#eraseOnce(trackerId, subjectId, state, options),
    )
  }

  /** Erases many data subjects, spread across the hour, with an outcome for each. */
  eraseSubjects(
    trackerId: string,
    subjectIds: Iterable<string>,
    options: BatchOptions = {},
  ): AsyncGenerator<BatchOutcome, void, undefined> {
    return eraseBatch(this.#batch(trackerId, subjectIds), options)
  }

  /** What `eraseSubjects` would do: how many are left, and how long they will take. Sends nothing. */
  planErasures(
    trackerId: string,
    subjectIds: Iterable<string>,
    options: BatchOptions = {},
  ): Promise<BatchProgress> {
    return planBatch(this.#batch(trackerId, subjectIds), options)
  }

  /** The receipts of a data subject's erasures, newest first, for as long as the service keeps the tombstones. */
  listReceipts(
    trackerId: string,
    subjectId: string,
    { cursor, ...query }: ListReceiptsQuery = {},
    options: CallOptions = {},
  ): Listing<Receipt, ReceiptList> {
    const path = `${subjectPath(trackerId, subjectId)}/receipts`
    return this.#list(path, isReceiptList, ({ receipts }) => receipts, { query, cursor, ...options })
  }

  /** The head of the organisation's erasure ledger, signed, and the keys that sign it. */
  async readLedger(options: CallOptions = {}): Promise<Ledger> {
    return (await this.#repeat({ ...options, path: ledgerPath, isData: isLedger })).data
  }

  /** The entries of the erasure ledger, oldest first. */
  listLedgerEntries(
    { cursor, ...query }: ListEntriesQuery = {},
    options: CallOptions = {},
  ): Listing<LedgerEntry, EntryList> {
    const path = `${ledgerPath}/entries`
    return this.#list(path, isEntryList, ({ entries }) => entries, { query, cursor, ...options })
  }

  /** The proof that the ledger begins with what it was when it had `from` entries, for `verifyConsistency`. */
  async proveConsistency(from: number, options: CallOptions = {}): Promise<Consistency> {
    const path = `${ledgerPath}/consistency`
    return (await this.#repeat({ ...options, path, query: { from }, isData: isConsistency })).data
  }

  #batch(trackerId: string, subjectIds: Iterable<string>): BatchDeps {
    pathSegment('trackerId', trackerId)
    return {
      url: this.#url,
      trackerId,
      ids: distinctIds(subjectIds),
      runtime: this.#runtime,
      policy: this.#policy,
      // Without the signal: an erasure under way goes on at the service, and what came of it is worth the wait.
      attempt: (subjectId, state, onBudget) => this.#eraseOnce(trackerId, subjectId, state, { onBudget }),
    }
  }

  async #eraseOnce(
    trackerId: string,
    subjectId: string,
    state: AttemptState,
    options: CallOptions & { onBudget?: Outgoing['onBudget'] },
  ): Promise<ErasureReport> {
    const path = subjectPath(trackerId, subjectId)
    const call: Call<Erasure> = { ...options, method: 'DELETE', path, isData: isErasure }
    const { data, meta } = await this.#attempt(call, state)
    const countsKnown = !(state.mayBeDone && data.alreadyErased)
    return { ...data, countsKnown, requestId: meta.requestId }
  }

  #list<Item, Page extends { nextCursor: string | null }>(
    path: string,
    isPage: (value: unknown) => value is Page,
    itemsOf: (page: Page) => Item[],
    { query, cursor, ...options }: CallOptions & { query: object; cursor: string | undefined },
  ): Listing<Item, Page> {
    return this.#pages(isPage, itemsOf, cursor, options, (cursor) => ({
      ...{ path, query: { limit: maxPageSize, ...query, cursor } },
    }))
  }

  #pages<Item, Page extends { nextCursor: string | null }>(
    isPage: (value: unknown) => value is Page,
    itemsOf: (page: Page) => Item[],
    cursor: string | undefined,
    options: CallOptions,
    callFor: (cursor: string | undefined) => Pick<Call<Page>, 'method' | 'path' | 'query' | 'body'>,
  ): Listing<Item, Page> {
    const runtime = this.#runtime
    const readPage = async (cursor: string | undefined) => {
      const call = { ...options, ...callFor(cursor), isData: isPage }
      const { data, meta, budget } = await this.#repeat(call)
      return { page: data, requestId: meta.requestId, budget }
    }
    return new Listing({ readPage, itemsOf, cursor, signal: options.signal, runtime })
  }

  #repeat<Data>(call: Call<Data>): Promise<Answer & { data: Data }> {
    return repeat(this.#runtime, this.#policy, call.signal, (state) => this.#attempt(call, state))
  }

  /** Opens an answer of any size. Repeated until it begins; once it has, whatever goes wrong ends it. */
  #open(path: string, { requestId, timeoutMs = this.#timeoutMs, signal }: CallOptions) {
    return repeat(this.#runtime, this.#policy, signal, ({ leftMs }) =>
      openStream(
        {
          ...{ fetch: this.#fetch, method: 'GET', url: `${this.#url}${path}`, signal },
          headers: { ...this.#headers, ...requestIdHeader(requestId) },
          timeoutMs: Math.min(timeoutMs, leftMs),
        },
        this.#runtime,
      ),
    )
  }

  async #attempt<Data>(
    {
      method = 'GET',
      path,
      query = {},
      body,
      isData,
      requestId,
      timeoutMs = this.#timeoutMs,
      ...rest
    }: Call<Data>,
    { leftMs }: AttemptState,
  ): Promise<Answer & { data: Data }> {
    const answer = await exchange(
      {
        fetch: this.#fetch,
        method,
        url: `${this.#url}${path}${queryString(query)}`,
        headers: { ...this.#headers, ...(body && jsonHeader), ...requestIdHeader(requestId) },
        body: body && JSON.stringify(body),
        timeoutMs: Math.min(timeoutMs, leftMs),
        ...rest,
      },
      this.#runtime,
    )
    const { data, meta } = answer
    if (isData(data)) return { ...answer, data }
    throw new UnexpectedAnswerError(200, 'The answer has not the shape that was promised.', meta.requestId)
  }
}
