import { ConnectionError, TimeoutError } from './errors.ts'
import { type Outgoing, readAnswer, reasonOf } from './exchange.ts'
import { longestTimerMs, type Runtime } from './runtime.ts'

/** A request whose response is read in pieces, each of which may take `timeoutMs`. */
interface OutgoingStream extends Outgoing {
  /** For the start of the response. */
  leftMs: number
}

/**
 * Sends a request once and returns its response, of the given type and of any size, in pieces. Throws the
 * error of the service, or why there is no usable response.
 */
export async function openStream(
  outgoing: OutgoingStream,
  type: string,
  { now }: Runtime,
): Promise<AsyncGenerator<Uint8Array, void, undefined>> {
  const { fetch, method, url, headers, timeoutMs, leftMs, signal } = outgoing
  const startTimeoutMs = Math.min(timeoutMs, leftMs)
  const requestId = headers['x-request-id'] ?? null
  const deadline = new Deadline(timeoutMs, signal, requestId)
  const response = await deadline.wait(
    () => fetch(url, { method, headers, signal: deadline.signal, redirect: 'manual' }),
    startTimeoutMs,
  )
  const { body } = response
  const isExpected = response.headers.get('content-type')?.startsWith(type) ?? false
  if (response.status !== 200 || body === null || !isExpected) {
    const text = await deadline.wait(() => response.text(), startTimeoutMs)
    readAnswer(response, text, requestId, now())
    throw new ConnectionError('the response is empty', requestId)
  }
  return piecesOf(body, deadline)
}

/** Decodes UTF-8 that arrives in pieces. */
export async function* decoded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  for await (const piece of pieces) yield decoder.decode(piece, { stream: true })
}

async function* piecesOf(
  body: ReadableStream<Uint8Array>,
  deadline: Deadline,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await deadline.wait(() => reader.read())
      if (done) return
      yield value
    }
  } finally {
    // A caller that stops early does not read the rest.
    await reader.cancel().catch(() => {})
    deadline.end()
  }
}

/** Limits the time of each step of a request, and ends with the caller's signal. */
class Deadline {
  readonly #timeoutMs: number
  readonly #callers: AbortSignal | undefined
  readonly #requestId: string | null
  readonly #stop = new AbortController()
  readonly #onAbort = () => this.#stop.abort()

  constructor(timeoutMs: number, signal: AbortSignal | undefined, requestId: string | null) {
    signal?.throwIfAborted()
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#timeoutMs = timeoutMs
    this.#callers = signal
    this.#requestId = requestId
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  async wait<Result>(work: () => Promise<Result>, timeoutMs = this.#timeoutMs): Promise<Result> {
    let isTooLate = false
    const onTimeout = () => {
      isTooLate = true
      this.#stop.abort()
    }
    const timer = setTimeout(onTimeout, Math.min(timeoutMs, longestTimerMs))
    try {
      return await work()
    } catch (cause) {
      this.end()
      this.#callers?.throwIfAborted()
      if (isTooLate) throw new TimeoutError(`No data was received within ${timeoutMs} ms.`, this.#requestId)
      throw new ConnectionError(reasonOf(cause), this.#requestId, cause)
    } finally {
      clearTimeout(timer)
    }
  }

  end(): void {
    this.#callers?.removeEventListener('abort', this.#onAbort)
  }
}
