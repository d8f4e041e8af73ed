import {
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  type ResolutionDetails,
} from '@openfeature/server-sdk'
import { VariablesProvider } from './openfeature-provider.ts'

export type { VariablesOptions } from './variables.ts'

/** Evaluates flags from the variables of a token, with `@openfeature/server-sdk`. */
export class LetheProvider extends VariablesProvider implements Provider {
  readonly runsOn = 'server'
  readonly events = new OpenFeatureEventEmitter()

  async resolveBooleanEvaluation(
    flagKey: string,
    defaultValue: boolean,
  ): Promise<ResolutionDetails<boolean>> {
    return this.resolve(flagKey, defaultValue, 'boolean')
  }

  async resolveStringEvaluation(flagKey: string, defaultValue: string): Promise<ResolutionDetails<string>> {
    return this.resolve(flagKey, defaultValue, 'string')
  }

  async resolveNumberEvaluation(flagKey: string, defaultValue: number): Promise<ResolutionDetails<number>> {
    return this.resolve(flagKey, defaultValue, 'number')
  }

  async resolveObjectEvaluation<Value extends JsonValue>(
    flagKey: string,
    defaultValue: Value,
  ): Promise<ResolutionDetails<Value>> {
    return this.resolve(flagKey, defaultValue, Array.isArray(defaultValue) ? 'array' : 'object')
  }
}
