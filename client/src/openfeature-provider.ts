import {
  type AnyProviderEvent,
  ErrorCode,
  GeneralError,
  type ProviderEventEmitter,
  ClientProviderEvents as ProviderEvents,
  ProviderFatalError,
  type ResolutionDetails,
  StandardResolutionReasons,
} from '@openfeature/core'
import { ApiError, ClientError } from './errors.ts'
import { systemRuntime } from './runtime.ts'
import { hasType, typeOf, type VariableType, VariableTypeError } from './variable-type.ts'
import { createVariables, type Variables, type VariablesOptions } from './variables.ts'

/** What the providers for servers and browsers have in common. A flag is a variable. */
export abstract class VariablesProvider {
  readonly metadata = { name: 'lethe' } as const
  abstract readonly events: ProviderEventEmitter<AnyProviderEvent>
  readonly #options: VariablesOptions
  #variables: Variables | null = null
  /** The event of the current status; `null` until `initialize` ends, whose events the SDK emits. */
  #status: ProviderEvents.Ready | ProviderEvents.Stale | ProviderEvents.Error | null = null

  constructor(options: VariablesOptions) {
    this.#options = options
  }

  /** Loads the variables. Throws if that fails and there are no `initial` values. */
  async initialize(): Promise<void> {
    this.#close()
    const variables = this.#open()
    this.#variables = variables
    await variables.ready()
    if (this.#variables !== variables) throw new GeneralError('The provider was closed.')
    const { error } = variables
    if (error instanceof ApiError && error.code === 'unauthorized' && !this.#canEvaluate) {
      this.#close()
      throw new ProviderFatalError(error.message)
    }
    variables.onRefresh((error) => this.#report(error))
    variables.onChange(({ version, added, changed, removed }) => {
      const flagsChanged = [...added, ...changed, ...removed]
      this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged, metadata: { version } })
    })
    this.#status = this.#canEvaluate ? ProviderEvents.Ready : ProviderEvents.Error
    if (!this.#canEvaluate) throw new GeneralError(error?.message)
    // When this function ends, the SDK sets the status to ready. If it is not, that comes after.
    if (error !== null) void systemRuntime.wait(0).then(() => this.#report(variables.error))
  }

  async onClose(): Promise<void> {
    this.#close()
  }

  protected resolve<Value>(
    flagKey: string,
    defaultValue: Value,
    expected: VariableType,
  ): ResolutionDetails<Value> {
    const version = this.#variables?.version ?? null
    const flagMetadata = version === null ? {} : { version }
    const failed = (errorCode: ErrorCode, errorMessage: string) => {
      const reason = StandardResolutionReasons.ERROR
      return { value: defaultValue, reason, errorCode, errorMessage, flagMetadata }
    }
    const values = this.#variables?.all() ?? {}
    // Names such as `constructor` are valid.
    if (!Object.hasOwn(values, flagKey)) {
      return version === null
        ? failed(ErrorCode.PROVIDER_NOT_READY, 'The variables have not been loaded.')
        : failed(ErrorCode.FLAG_NOT_FOUND, `The variable ${flagKey} does not exist.`)
    }
    const value: unknown = values[flagKey]
    if (hasType<Value>(value, expected)) return { value, reason: this.#reason, flagMetadata }
    const { message } = new VariableTypeError(flagKey, expected, typeOf(value))
    return failed(ErrorCode.TYPE_MISMATCH, message)
  }

  #open(): Variables {
    try {
      return createVariables(this.#options)
    } catch (error) {
      throw new ProviderFatalError(error instanceof Error ? error.message : undefined)
    }
  }

  #close(): void {
    this.#variables?.close()
    this.#variables = null
    this.#status = null
  }

  get #canEvaluate(): boolean {
    return this.#variables?.version != null || this.#options.initial !== undefined
  }

  get #reason(): keyof typeof StandardResolutionReasons {
    if (this.#variables?.version == null) return StandardResolutionReasons.DEFAULT
    return this.#variables.error === null ? StandardResolutionReasons.STATIC : StandardResolutionReasons.STALE
  }

  /** Emits the event of a new status. Known values are used in all of them. */
  #report(error: Error | null): void {
    if (this.#status === null) return
    const isTemporary = error instanceof ClientError && error.isWorthRepeating && this.#canEvaluate
    const failure = isTemporary ? ProviderEvents.Stale : ProviderEvents.Error
    const status = error === null ? ProviderEvents.Ready : failure
    if (status === this.#status) return
    this.#status = status
    const errorCode = status === ProviderEvents.Error && { errorCode: ErrorCode.GENERAL }
    this.events.emit(status, error === null ? {} : { message: error.message, ...errorCode })
  }
}
