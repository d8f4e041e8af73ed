import type { Payload } from './compress.ts'
import { UnexpectedAnswerError } from './errors.ts'
import { type Answer, exchange, type Outgoing } from './exchange.ts'
import { exportEncodings } from './export-encodings.ts'
import { Listing } from './listing.ts'
import { openStream } from './open-stream.ts'
import { type AttemptState, defaultRetryPolicy, type RetryPolicy, repeat } from './repeat.ts'
import { baseUrl, queryString, requestIdHeader } from './request-parts.ts'
import { type Runtime, systemRuntime } from './runtime.ts'

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
  onBudgets?: Outgoing['onBudgets']
}

export const maxPageSize = 200
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

  constructor({ url, apiKey, timeoutMs = 30_000, retry, fetch, runtime }: LetheClientOptions) {
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
  open(path: string, { requestId, timeoutMs = this.#timeoutMs, signal }: CallOptions) {
    return repeat(this.runtime, this.policy, signal, ({ leftMs }) =>
      openStream(
        {
          ...{ fetch: this.fetch, method: 'GET', url: `${this.url}${path}`, signal },
          headers: { ...this.#exportHeaders, ...requestIdHeader(requestId) },
          timeoutMs: Math.min(timeoutMs, leftMs),
        },
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
    if (isData(data)) return { ...answer, data }
    throw new UnexpectedAnswerError(200, 'The response does not match the API.', meta.requestId)
  }
}
