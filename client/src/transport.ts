import type { Bytes } from './base64.ts'
import { exhaustedForMs } from './budget.ts'
import type { Payload } from './compress.ts'
import { UnexpectedAnswerError } from './errors.ts'
import { type Answer, exchange, type Outgoing } from './exchange.ts'
import { exportEncodings } from './export-encodings.ts'
import { Listing } from './listing.ts'
import { decoded, openStream } from './open-stream.ts'
import { type AttemptState, defaultRetryPolicy, type RetryPolicy, repeat } from './repeat.ts'
import { baseUrl, queryString, requestIdHeader } from './request-parts.ts'
import { type Runtime, systemRuntime } from './runtime.ts'
import { hmacSha256 } from './web-crypto.ts'

export interface LetheClientOptions {
  /** The address of the service, such as `https://lethe.example`. Its path precedes those of the API. */
  url: string
  /** The key string, `lethe_…`. */
  apiKey: string
  /** How long one attempt may take, including the last byte; 30,000 if omitted. */
  timeoutMs?: number | undefined
  /** When to stop repeating a request after temporary failures. */
  retry?: Partial<RetryPolicy> | undefined
  /** Used instead of the runtime's `fetch`. */
  fetch?: typeof fetch | undefined
  /** Time and randomness, for tests. */
  runtime?: Runtime | undefined
}

/** Options of every call. */
export interface CallOptions {
  signal?: AbortSignal | undefined
  /** The request ID in logs and errors: 1 to 200 printable ASCII characters, without personal data. */
  requestId?: string | undefined
  /** Overrides the timeout of the client. */
  timeoutMs?: number | undefined
}

/** A request and the type of its response. */
export interface Call<Data> extends CallOptions {
  method?: Outgoing['method']
  path: string
  query?: object
  /** Sent as JSON. */
  body?: object
  /** Sent as it is, instead of `body`. */
  payload?: Payload
  isData(value: unknown): value is Data
}

export const maxPageSize = 200
/** No budget has a longer window. */
const longestWindowMs = 86_400_000
const jsonHeader = { 'content-type': 'application/json' }

/** Sends the requests of a client with its key, timeout and retry policy. */
export class Transport {
  readonly url: string
  readonly runtime: Runtime
  readonly policy: RetryPolicy
  readonly fetch: typeof fetch
  readonly #headers: Record<string, string>
  readonly #exportHeaders: Record<string, string>
  readonly #timeoutMs: number
  readonly #options: LetheClientOptions

  readonly #isPatient: boolean
  /** When a budget that was used up resets. */
  #resetsAt = 0

  constructor(options: LetheClientOptions, { isPatient = false } = {}) {
    const { url, apiKey, timeoutMs = 30_000, retry, fetch, runtime } = options
    this.#options = options
    this.#isPatient = isPatient
    this.url = baseUrl(url)
    if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('apiKey must be the string of an API key.')
    this.#headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' }
    // It is unknown which encodings a custom fetch can decode.
    this.#exportHeaders = { ...this.#headers, ...(fetch === undefined && exportEncodings()) }
    // Some runtimes require that fetch is not called as a method of another object.
    this.fetch = fetch ?? ((...request) => globalThis.fetch(...request))
    this.#timeoutMs = timeoutMs
    this.policy = { ...defaultRetryPolicy, ...retry }
    this.runtime = runtime ?? systemRuntime
  }

  /**
   * The same transport for work that takes long: it waits for a budget that is used up before it sends a
   * request, and up to two days for one that others have used up.
   */
  patient(): Transport {
    const maxTotalMs = 2 * longestWindowMs
    return new Transport({ ...this.#options, retry: { ...this.policy, maxTotalMs } }, { isPatient: true })
  }

  /** A digest of a text that only holders of the API key can compute. */
  keyedDigest(text: string): Promise<Bytes> {
    const encoder = new TextEncoder()
    return hmacSha256(encoder.encode(this.#options.apiKey), encoder.encode(text))
  }

  /** A list whose pages are requested with a query. */
  list<Item, Page extends { nextCursor: string | null }>(
    path: string,
    isPage: (value: unknown) => value is Page,
    itemsOf: (page: Page) => Item[],
    { query, cursor, ...options }: CallOptions & { query: object; cursor: string | undefined },
  ): Listing<Item, Page> {
    return this.pages(isPage, itemsOf, cursor, options, (cursor) => ({
      ...{ path, query: { limit: maxPageSize, ...query, cursor } },
    }))
  }

  /** A list whose pages are requested by the given calls. */
  pages<Item, Page extends { nextCursor: string | null }>(
    isPage: (value: unknown) => value is Page,
    itemsOf: (page: Page) => Item[],
    cursor: string | undefined,
    options: CallOptions,
    callFor: (cursor: string | undefined) => Pick<Call<Page>, 'method' | 'path' | 'query' | 'body'>,
  ): Listing<Item, Page> {
    const runtime = this.runtime
    const readPage = async (cursor: string | undefined) => {
      const call = { ...options, ...callFor(cursor), isData: isPage }
      const { data, meta, budgets } = await this.repeat(call)
      return { page: data, requestId: meta.requestId, budgets }
    }
    return new Listing({ readPage, itemsOf, cursor, signal: options.signal, runtime })
  }

  /** Sends a request, and repeats it after temporary failures. */
  repeat<Data>(call: Call<Data>): Promise<Answer & { data: Data }> {
    return repeat(this.runtime, this.policy, call.signal, (state) => this.attempt(call, state))
  }

  /** Opens a response of any size. Requests are repeated until it starts; later errors end it. */
  async open(path: string, options: CallOptions): Promise<AsyncIterable<string>> {
    return decoded(await this.#open(path, 'application/json', this.#exportHeaders, options))
  }

  /** The same for a response in another format than JSON. */
  openBytes(path: string, type: string, options: CallOptions): Promise<AsyncIterable<Uint8Array>> {
    return this.#open(path, type, { ...this.#headers, accept: `${type}, application/json` }, options)
  }

  #open(
    path: string,
    type: string,
    headers: Record<string, string>,
    { requestId, timeoutMs = this.#timeoutMs, signal }: CallOptions,
  ) {
    return repeat(this.runtime, this.policy, signal, ({ leftMs }) =>
      openStream(
        {
          ...{ fetch: this.fetch, method: 'GET', url: `${this.url}${path}`, signal },
          headers: { ...headers, ...requestIdHeader(requestId) },
          ...{ timeoutMs, leftMs },
        },
        type,
        this.runtime,
      ),
    )
  }

  /** Sends a request once. */
  async attempt<Data>(
    {
      method = 'GET',
      path,
      query = {},
      body,
      payload = body && { headers: jsonHeader, body: JSON.stringify(body) },
      isData,
      requestId,
      timeoutMs = this.#timeoutMs,
      ...rest
    }: Call<Data>,
    { leftMs }: AttemptState,
  ): Promise<Answer & { data: Data }> {
    const { now, wait } = this.runtime
    if (this.#isPatient && this.#resetsAt > now()) await wait(this.#resetsAt - now(), rest.signal)
    const answer = await exchange(
      {
        fetch: this.fetch,
        method,
        url: `${this.url}${path}${queryString(query)}`,
        headers: { ...this.#headers, ...payload?.headers, ...requestIdHeader(requestId) },
        body: payload?.body,
        timeoutMs: Math.min(timeoutMs, leftMs),
        ...rest,
      },
      this.runtime,
    )
    const { data, meta } = answer
    this.#resetsAt = now() + exhaustedForMs(answer.budgets)
    if (isData(data)) return { ...answer, data }
    throw new UnexpectedAnswerError(200, 'The response does not match the API.', meta.requestId)
  }
}
