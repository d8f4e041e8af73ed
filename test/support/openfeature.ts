import { LetheProvider } from '@lethe/client/openfeature-server'
import { LetheWebProvider } from '@lethe/client/openfeature-web'
import type { VariablesOptions } from '@lethe/client/variables'
import type { EvaluationDetails, FlagValue, JsonValue } from '@openfeature/core'
import { ProviderEvents, OpenFeature as Server } from '@openfeature/server-sdk'
import { OpenFeature as Web, ProviderEvents as WebEvents } from '@openfeature/web-sdk'
import type { Lifetime } from './service.ts'

/** A client of one of the SDKs, with its own provider. */
interface FlagClient {
  /** Makes the SDK initialise the provider. */
  start(): Promise<void>
  status(): string
  evaluate(flagKey: string, defaultValue: FlagValue): Promise<EvaluationDetails<FlagValue>>
  /** Every event so far: its type, and its changed flags or message. */
  events: [type: string, content: unknown][]
  provider: LetheProvider | LetheWebProvider
}

interface Features {
  getBooleanDetails(key: string, value: boolean): MaybePromise<EvaluationDetails<FlagValue>>
  getStringDetails(key: string, value: string): MaybePromise<EvaluationDetails<FlagValue>>
  getNumberDetails(key: string, value: number): MaybePromise<EvaluationDetails<FlagValue>>
  getObjectDetails(key: string, value: JsonValue): MaybePromise<EvaluationDetails<FlagValue>>
}
type MaybePromise<Value> = Value | Promise<Value>

let opened = 0

/** Opens a client of an SDK, by the SDK's name. */
export const openFlagClient = {
  '@openfeature/server-sdk': (t: Lifetime, options: VariablesOptions): FlagClient => {
    const domain = `server-${++opened}`
    const provider = new LetheProvider(options)
    const client = Server.getClient(domain)
    const events: FlagClient['events'] = []
    for (const type of Object.values(ProviderEvents))
      client.addHandler(type, (details) => void events.push([type, contentOf(details)]))
    t.after(() => provider.onClose())
    const start = () => Server.setProviderAndWait(domain, provider)
    return { start, status: () => client.providerStatus, evaluate: evaluatorOf(client), events, provider }
  },
  '@openfeature/web-sdk': (t: Lifetime, options: VariablesOptions): FlagClient => {
    const domain = `web-${++opened}`
    const provider = new LetheWebProvider(options)
    const client = Web.getClient(domain)
    const events: FlagClient['events'] = []
    for (const type of Object.values(WebEvents))
      client.addHandler(type, (details) => void events.push([type, contentOf(details)]))
    t.after(() => provider.onClose())
    const start = () => Web.setProviderAndWait(domain, provider)
    return { start, status: () => client.providerStatus, evaluate: evaluatorOf(client), events, provider }
  },
}

function contentOf(details: { flagsChanged?: unknown; message?: unknown } = {}): unknown {
  return details.flagsChanged ?? details.message
}

function evaluatorOf(client: Features): FlagClient['evaluate'] {
  return async (key, value) => {
    if (typeof value === 'boolean') return await client.getBooleanDetails(key, value)
    if (typeof value === 'string') return await client.getStringDetails(key, value)
    if (typeof value === 'number') return await client.getNumberDetails(key, value)
    return await client.getObjectDetails(key, value)
  }
}
