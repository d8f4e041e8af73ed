import {
  isPrivacyRequest,
  isPrivacyRequestList,
  isRequestCertificate,
  type ListRequestsQuery,
  type PrivacyRequest,
  type PrivacyRequestList,
  type RequestCertificate,
} from './api.ts'
import { type EraseManyOptions, type EraseManyOutcome, eraseMany } from './erase-many.ts'
import { ApiError } from './errors.ts'
import type { Listing } from './listing.ts'
import type { NewRequest, PersonRef } from './new-request.ts'
import { repeat } from './repeat.ts'
import { requestPath, requestsPath } from './request-parts.ts'
import type { CallOptions, Transport } from './transport.ts'
import { type WaitOptions, waitForRequest } from './wait-for-request.ts'
import { wholeZip } from './zip-end.ts'

/** The requests of people: for a copy of their data, or for its erasure. */
export class Requests {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Creates a request. Its ID is random unless given, so that sending it again creates it only once. */
  async create({ receivedAt, ...request }: NewRequest, options: CallOptions = {}): Promise<PrivacyRequest> {
    const { runtime } = this.#transport
    const requestId = request.requestId ?? runtime.randomUUID?.() ?? crypto.randomUUID()
    const received = receivedAt instanceof Date ? receivedAt.toISOString() : receivedAt
    const body = { ...request, requestId, receivedAt: received }
    const call = { ...options, method: 'POST' as const, path: requestsPath, body, isData: isPrivacyRequest }
    return (await this.#transport.repeat(call)).data
  }

  /** Lists requests, soonest due first. */
  list(
    { cursor, ...query }: ListRequestsQuery = {},
    options: CallOptions = {},
  ): Listing<PrivacyRequest, PrivacyRequestList> {
    return this.#transport.list(requestsPath, isPrivacyRequestList, ({ requests }) => requests, {
      ...{ query, cursor },
      ...options,
    })
  }

  /** Reads a request. While it is open, `found` is current. */
  async get(id: string, options: CallOptions = {}): Promise<PrivacyRequest> {
    const call = { ...options, path: requestPath(id), isData: isPrivacyRequest }
    return (await this.#transport.repeat(call)).data
  }

  /** Postpones the date when a request is due by two months, once. The person must be told the reason. */
  extend(id: string, { reason }: { reason: string }, options: CallOptions = {}): Promise<PrivacyRequest> {
    const isExtended = (request: PrivacyRequest) => request.extendedAt !== null && request.reason === reason
    return this.#change(id, 'extend', { reason }, isExtended, options)
  }

  /** Closes a request that is refused. */
  reject(id: string, { reason }: { reason: string }, options: CallOptions = {}): Promise<PrivacyRequest> {
    return this.#change(id, 'reject', { reason }, ({ state }) => state === 'rejected', options)
  }

  /** Closes a request that is no longer wanted. A running erasure stops; what is erased stays erased. */
  cancel(id: string, options: CallOptions = {}): Promise<PrivacyRequest> {
    return this.#change(id, 'cancel', {}, ({ state }) => state === 'cancelled', options)
  }

  /** Closes an access request that was answered. */
  close(id: string, options: CallOptions = {}): Promise<PrivacyRequest> {
    return this.#change(id, 'close', {}, ({ state }) => state === 'done', options)
  }

  /**
   * Permanently erases everything that a request finds. Returns when that is done, or after about two
   * seconds; the service then continues on its own: see `wait`.
   */
  erase(id: string, options: CallOptions = {}): Promise<PrivacyRequest> {
    return this.#change(id, 'erase', {}, ({ state }) => state === 'done', options)
  }

  /** Waits until a request is closed: done, rejected or cancelled. */
  wait(id: string, options: WaitOptions = {}): Promise<PrivacyRequest> {
    return waitForRequest(this.#transport.patient(), id, options)
  }

  /**
   * Exports everything stored about the person as a ZIP file, read while it is consumed. Errors are thrown,
   * so an export that ends without one is complete.
   */
  async *export(id: string, options: CallOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const path = `${requestPath(id)}/export`
    const pieces = await this.#transport.openBytes(path, 'application/zip', options)
    yield* wholeZip(pieces, options.requestId ?? null)
  }

  /** Reads the certificate of a request: what was erased, or that nothing was held, with receipts. */
  async certificate(id: string, options: CallOptions = {}): Promise<RequestCertificate> {
    const call = { ...options, path: `${requestPath(id)}/certificate`, isData: isRequestCertificate }
    return (await this.#transport.repeat(call)).data
  }

  /**
   * Erases many people: creates and starts a request for each, all with one reference, and waits for them.
   * When repeated with the same reference and key, for instance after a crash, it creates nothing twice.
   */
  eraseMany(
    people: Iterable<PersonRef>,
    options: EraseManyOptions,
  ): AsyncGenerator<EraseManyOutcome, void, undefined> {
    const transport = this.#transport.patient()
    return eraseMany({ transport, requests: new Requests(transport) }, people, options)
  }

  /** Changes a request. If an attempt without a response changed it, the refusal of the next is no error. */
  #change(
    id: string,
    action: string,
    body: object,
    isChanged: (request: PrivacyRequest) => boolean,
    options: CallOptions,
  ): Promise<PrivacyRequest> {
    const { runtime, policy } = this.#transport
    const path = `${requestPath(id)}/${action}`
    const call = { ...options, method: 'POST' as const, path, body, isData: isPrivacyRequest }
    return repeat(runtime, policy, options.signal, async (state) => {
      try {
        return (await this.#transport.attempt(call, state)).data
      } catch (error) {
        if (!state.mayBeDone || !(error instanceof ApiError) || error.code !== 'validation_error') throw error
        const request = await this.get(id, options)
        if (isChanged(request)) return request
        throw error
      }
    })
  }
}
