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
import type { ErasureReport } from './erasure-report.ts'
import { pathSegment } from './identifier.ts'
import { batchCall, type IngestReport, ingest } from './ingest.ts'
import type { IngestLine } from './ingest-line.ts'
import type { Listing } from './listing.ts'
import type { PersonExport, Sought } from './person.ts'
import { type AttemptState, repeat } from './repeat.ts'
import { ledgerPath, searchPath, subjectPath, subjectsPath } from './request-parts.ts'
import { Requests } from './requests.ts'
import { Sender } from './sender.ts'
import type { SenderOptions } from './sender-options.ts'
import { SubjectExport } from './subject-export.ts'
import { type Call, type CallOptions, type LetheClientOptions, maxPageSize, Transport } from './transport.ts'
import { createVariables, type Variables, type VariablesOptions } from './variables.ts'

/** A client of a Lethe service with an API key. */
export class LetheClient {
  readonly #transport: Transport
  /** The requests of people: for a copy of their data, or for its erasure. */
  readonly requests: Requests

  constructor(options: LetheClientOptions) {
    this.#transport = new Transport(options)
    this.requests = new Requests(this.#transport)
  }

  /** Lists the data subjects of a tracker. */
  listSubjects(
    trackerId: string,
    { cursor, ...query }: ListSubjectsQuery = {},
    options: CallOptions = {},
  ): Listing<SubjectSummary, SubjectList> {
    const path = subjectsPath(trackerId)
    return this.#transport.list(path, isSubjectList, ({ subjects }) => subjects, {
      query,
      cursor,
      ...options,
    })
  }

  /** Reads the record of a data subject, without its sessions and events. */
  async readSubject(trackerId: string, subjectId: string, options: CallOptions = {}): Promise<Subject> {
    const path = subjectPath(trackerId, subjectId)
    return (await this.#transport.repeat({ ...options, path, isData: isSubject })).data
  }

  /**
   * Finds a person's data subjects in every tracker of the organisation, by identifier (`email` ignores case)
   * or by ID. If nobody is found, the list is empty. `hidden` of a page has those that a shorter plan hides.
   */
  searchSubjects(
    sought: Sought,
    { cursor, limit }: { limit?: number | undefined; cursor?: string | undefined } = {},
    options: CallOptions = {},
  ): Listing<FoundSubject, FoundSubjectList> {
    const body = { ...sought, limit: limit ?? maxPageSize }
    return this.#transport.pages(
      isFoundSubjectList,
      ({ subjects }) => subjects,
      cursor,
      options,
      (cursor) => ({
        ...{ method: 'POST', path: searchPath, body: { ...body, cursor } },
      }),
    )
  }

  /** Lists the sessions of a data subject, newest first. */
  listSessions(
    trackerId: string,
    subjectId: string,
    { cursor, ...query }: ListSessionsQuery = {},
    options: CallOptions = {},
  ): Listing<Session, SessionList> {
    const path = `${subjectPath(trackerId, subjectId)}/sessions`
    return this.#transport.list(path, isSessionList, ({ sessions }) => sessions, {
      query,
      cursor,
      ...options,
    })
  }

  /** Lists the events of a data subject, newest first. */
  listEvents(
    trackerId: string,
    subjectId: string,
    { cursor, ...query }: ListEventsQuery = {},
    options: CallOptions = {},
  ): Listing<Event, EventList> {
    const path = `${subjectPath(trackerId, subjectId)}/events`
    return this.#transport.list(path, isEventList, ({ events }) => events, { query, cursor, ...options })
  }

  /** Exports all data of a data subject at one point in time, in one request. */
  exportSubject(trackerId: string, subjectId: string, options: CallOptions = {}): SubjectExport {
    return new SubjectExport({
      owner: { trackerId, subjectId },
      requestId: options.requestId ?? null,
      open: () => this.#transport.open(`${subjectPath(trackerId, subjectId)}/export`, options),
    })
  }

  /** Exports all data of a person: each data subject in every tracker, read while it is consumed. */
  async *exportPerson(
    sought: Sought,
    options: CallOptions = {},
  ): AsyncGenerator<PersonExport, void, undefined> {
    for await (const found of this.searchSubjects(sought, {}, options)) {
      yield { found, export: this.exportSubject(found.trackerId, found.subjectId, options) }
    }
  }

  /** Permanently erases a data subject. Repeated if there is no response, which is safe. */
  eraseSubject(trackerId: string, subjectId: string, options: CallOptions = {}): Promise<ErasureReport> {
    const { runtime, policy } = this.#transport
    return repeat(runtime, policy, options.signal, (state) =>
      this.#eraseOnce(trackerId, subjectId, state, options),
    )
  }

  /** Lists the receipts of a data subject's erasures, newest first, as long as their tombstones are kept. */
  listReceipts(
    trackerId: string,
    subjectId: string,
    { cursor, ...query }: ListReceiptsQuery = {},
    options: CallOptions = {},
  ): Listing<Receipt, ReceiptList> {
    const path = `${subjectPath(trackerId, subjectId)}/receipts`
    return this.#transport.list(path, isReceiptList, ({ receipts }) => receipts, {
      query,
      cursor,
      ...options,
    })
  }

  /** Reads the signed head of the organisation's erasure ledger and the keys of its signers. */
  async readLedger(options: CallOptions = {}): Promise<Ledger> {
    return (await this.#transport.repeat({ ...options, path: ledgerPath, isData: isLedger })).data
  }

  /** Lists the entries of the erasure ledger, oldest first. */
  listLedgerEntries(
    { cursor, ...query }: ListEntriesQuery = {},
    options: CallOptions = {},
  ): Listing<LedgerEntry, EntryList> {
    const path = `${ledgerPath}/entries`
    return this.#transport.list(path, isEntryList, ({ entries }) => entries, { query, cursor, ...options })
  }

  /** Gets the proof that the first `from` entries of the ledger have not changed, for `verifyConsistency`. */
  async proveConsistency(from: number, options: CallOptions = {}): Promise<Consistency> {
    const path = `${ledgerPath}/consistency`
    return (await this.#transport.repeat({ ...options, path, query: { from }, isData: isConsistency })).data
  }

  /**
   * Stores one batch of sessions and events, given as objects or as NDJSON: at most 10,000 lines and 4 MiB.
   * Invalid lines are refused, the others stored. Repeated if there is no response, which changes nothing.
   */
  ingest(
    trackerId: string,
    lines: Iterable<IngestLine> | string,
    options: CallOptions = {},
  ): Promise<IngestReport> {
    return ingest(this.#transport, trackerId, lines, options)
  }

  /** Sends events and sessions in the background, in batches, until `close()`. */
  sender(trackerId: string, options: SenderOptions): Sender {
    pathSegment('trackerId', trackerId)
    const { runtime } = this.#transport
    const send = async (text: string, signal: AbortSignal) => {
      const call = { ...(await batchCall(trackerId, text)), signal }
      return this.#transport.attempt(call, { leftMs: Number.POSITIVE_INFINITY, mayBeDone: false })
    }
    return new Sender({ runtime, send }, options)
  }

  /**
   * Loads the variables of a token, and refreshes them in the background until `close()`. The key is not
   * sent. Give the `url` if the Variables API has a listener of its own.
   */
  variables(options: Omit<VariablesOptions, 'url'> & { url?: string | undefined }): Variables {
    const { url, fetch, runtime } = this.#transport
    return createVariables({ fetch, runtime, ...options, url: options.url ?? url })
  }

  async #eraseOnce(
    trackerId: string,
    subjectId: string,
    state: AttemptState,
    options: CallOptions,
  ): Promise<ErasureReport> {
    const path = subjectPath(trackerId, subjectId)
    const call: Call<Erasure> = { ...options, method: 'DELETE', path, isData: isErasure }
    const { data, meta } = await this.#transport.attempt(call, state)
    const countsKnown = !(state.mayBeDone && data.alreadyErased)
    return { ...data, countsKnown, requestId: meta.requestId }
  }
}
