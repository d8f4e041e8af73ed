import { exhaustedForMs } from './budget.ts'
import { ClientError } from './errors.ts'
import { Listeners } from './listeners.ts'
import { readVariables, type VariablesAnswer, type VariablesRequest } from './read-variables.ts'
import { defaultRetryPolicy, repeat } from './repeat.ts'
import { baseUrl } from './request-parts.ts'
import { type Runtime, systemRuntime } from './runtime.ts'
import { hasType, type JsonValue, typeOf, type VariableType, VariableTypeError } from './variable-type.ts'

export {
  ApiError,
  ClientError,
  ConnectionError,
  type ErrorCode,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.ts'
export type { Runtime } from './runtime.ts'
export { type JsonValue, type VariableType, VariableTypeError } from './variable-type.ts'

export interface VariablesOptions {
  /** The address of the service, such as `https://lethe.example`. Its path precedes those of the API. */
  url: string
  /** The variable token, `lethevar_…`. */
  token: string
  /** The average time between two refreshes; 60 if omitted. With 0, only `refresh()` requests values. */
  refreshSeconds?: number | undefined
  /** How long a refresh may take, including its retries; 10,000 if omitted. */
  timeoutMs?: number | undefined
  /** The values until the first response. */
  initial?: Readonly<Record<string, unknown>> | undefined
  /** Used instead of the runtime's `fetch`. */
  fetch?: typeof fetch | undefined
  /** Time and randomness, for tests. */
  runtime?: Runtime | undefined
}

/** The names of the variables that a refresh has changed. */
export interface VariablesChange {
  version: number
  added: string[]
  changed: string[]
  removed: string[]
}

const maxAttempts = 3

/** Loads the variables of a token, and refreshes them in the background until `close()`. */
export function createVariables(options: VariablesOptions): Variables {
  return new Variables(options)
}

/** The last known variables of a token. */
export class Variables {
  readonly #request: Pick<VariablesRequest, 'url' | 'token' | 'fetch'>
  readonly #runtime: Runtime
  readonly #timeoutMs: number
  readonly #refreshMs: number
  readonly #closing = new AbortController()
  readonly #refreshListeners = new Listeners<Error | null>()
  readonly #changeListeners = new Listeners<VariablesChange>()
  readonly #errorListeners = new Listeners<Error>()
  readonly #firstLoad: Promise<void>
  /** The types that were reported as wrong since the last change. */
  readonly #reported = new Set<string>()
  #values: Readonly<Record<string, JsonValue>>
  #version: number | null = null
  #etag: string | null = null
  #refreshing: Promise<void> | null = null
  #error: Error | null = null
  #failures = 0
  #notBefore = 0

  constructor(options: VariablesOptions) {
    const { url, token, refreshSeconds = 60, timeoutMs = 10_000, initial = {}, fetch, runtime } = options
    // An API key must never get into a URL.
    if (!/^lethevar_\w+$/.test(token)) throw new TypeError('token must be a variable token, lethevar_….')
    if (!(refreshSeconds >= 0)) throw new TypeError('refreshSeconds must be 0 or more.')
    // Some runtimes require that fetch is not called as a method of another object.
    const send: typeof globalThis.fetch = fetch ?? ((...request) => globalThis.fetch(...request))
    this.#request = { url: baseUrl(url), token, fetch: send }
    this.#runtime = runtime ?? systemRuntime
    this.#timeoutMs = timeoutMs
    this.#refreshMs = refreshSeconds * 1_000
    this.#values = frozen(JSON.parse(JSON.stringify(initial)))
    this.#firstLoad = this.refresh().catch(() => {})
    if (refreshSeconds > 0) void this.#refreshInBackground()
  }

  /** The version of the values; `null` until the first response. */
  get version(): number | null {
    return this.#version
  }

  /** The error of the last refresh; `null` if it succeeded. */
  get error(): Error | null {
    return this.#error
  }

  /** All values by name. They are frozen. */
  all(): Readonly<Record<string, JsonValue>> {
    return this.#values
  }

  boolean(name: string, fallback: boolean): boolean {
    return this.#read(name, fallback, 'boolean')
  }

  number(name: string, fallback: number): number {
    return this.#read(name, fallback, 'number')
  }

  string(name: string, fallback: string): string {
    return this.#read(name, fallback, 'string')
  }

  /** An object, or an array if the fallback is one. The types of its fields are not checked. */
  object<Value extends object>(name: string, fallback: Value): Value {
    return this.#read(name, fallback, typeOf(fallback))
  }

  /** Resolves when the first load has ended: to whether there are values of the service. Never rejects. */
  async ready(): Promise<boolean> {
    await this.#firstLoad
    return this.#version !== null
  }

  /** Requests the values now. Throws if that fails; the last known values stay. */
  async refresh(): Promise<void> {
    // A request under way may have read the values before the change that the caller knows about.
    await this.#refreshing?.catch(() => {})
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null
    })
    return this.#refreshing
  }

  /** Calls the listener after each refresh, with its error or `null`, before others. Returns how to stop. */
  onRefresh(listener: (error: Error | null) => void): () => void {
    return this.#refreshListeners.add(listener)
  }

  /** Calls the listener when a refresh has changed values, the first load included. Returns how to stop. */
  onChange(listener: (change: VariablesChange) => void): () => void {
    return this.#changeListeners.add(listener)
  }

  /**
   * Calls the listener when a refresh has failed, and when a variable was read as a type that it does not
   * have, once per change. Returns how to stop.
   */
  onError(listener: (error: Error) => void): () => void {
    return this.#errorListeners.add(listener)
  }

  /** Ends the background refresh and a request under way. The last known values stay. */
  close(): void {
    this.#closing.abort(new Error('The variables are closed.'))
  }

  #read<Value>(name: string, fallback: Value, expected: VariableType): Value {
    // Names such as `constructor` are valid.
    if (!Object.hasOwn(this.#values, name)) return fallback
    const value: unknown = this.#values[name]
    if (hasType<Value>(value, expected)) return value
    const error = new VariableTypeError(name, expected, typeOf(value))
    if (!this.#reported.has(error.message)) {
      this.#reported.add(error.message)
      this.#errorListeners.notify(error)
    }
    return fallback
  }

  async #refreshInBackground(): Promise<void> {
    const { signal } = this.#closing
    await this.#firstLoad
    while (!signal.aborted) {
      // Listeners know of failures.
      await this.#runtime
        .wait(this.#pauseMs(), signal, { isBackground: true })
        .then(() => this.refresh())
        .catch(() => {})
    }
  }

  /** The time until the next refresh. Random, so that programs that started together spread out. */
  #pauseMs(): number {
    const { now, random } = this.#runtime
    const isTemporary = this.#error instanceof ClientError && this.#error.isWorthRepeating
    const usualMs = isTemporary ? Math.min(this.#refreshMs, 1_000 * 2 ** this.#failures) : this.#refreshMs
    const blockedMs = this.#notBefore - now()
    return Math.max(usualMs * (0.75 + random() / 2), blockedMs * (1 + random() / 4))
  }

  async #refresh(): Promise<void> {
    const { signal } = this.#closing
    const { now } = this.#runtime
    signal.throwIfAborted()
    if (this.#error !== null && now() < this.#notBefore) throw this.#error
    try {
      const policy = { ...defaultRetryPolicy, maxAttempts, maxTotalMs: this.#timeoutMs }
      const { content, budgets } = await repeat(this.#runtime, policy, signal, ({ leftMs }) => {
        const request = { ...this.#request, etag: this.#etag, timeoutMs: leftMs, signal }
        return readVariables(request, this.#runtime)
      })
      const change = content === null ? null : this.#apply(content)
      this.#error = null
      this.#failures = 0
      this.#notBefore = now() + exhaustedForMs(budgets)
      this.#refreshListeners.notify(null)
      if (change !== null) this.#changeListeners.notify(change)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Error)) throw error
      this.#error = error
      this.#failures += 1
      this.#notBefore = now() + (error instanceof ClientError ? (error.retryAfterMs ?? 0) : 0)
      this.#refreshListeners.notify(error)
      this.#errorListeners.notify(error)
      throw error
    }
  }

  /** Replaces the values. Returns what changed. */
  #apply({ variables, version, etag }: NonNullable<VariablesAnswer['content']>): VariablesChange | null {
    const difference = compareVariables(this.#values, variables)
    this.#values = frozen(variables)
    this.#version = version
    this.#etag = etag
    if (difference === null) return null
    this.#reported.clear()
    return { version, ...difference }
  }
}

/** Every caller gets the same objects. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const each of Object.values(value)) frozen(each)
  return Object.freeze(value)
}

/** What differs between two sets of variables; `null` if nothing does. */
function compareVariables(before: object, after: object): Omit<VariablesChange, 'version'> | null {
  const texts = new Map(Object.entries(before).map(([name, value]) => [name, JSON.stringify(value)]))
  const entries = Object.entries(after)
  const namesOf = (filtered: [name: string, value: unknown][]) => filtered.map(([name]) => name)
  const added = namesOf(entries.filter(([name]) => !texts.has(name)))
  const changed = namesOf(
    entries.filter(([name, value]) => texts.has(name) && texts.get(name) !== JSON.stringify(value)),
  )
  const removed = [...texts.keys()].filter((name) => !Object.hasOwn(after, name))
  return added.length + changed.length + removed.length === 0 ? null : { added, changed, removed }
}
