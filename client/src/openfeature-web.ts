import {
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  type ResolutionDetails,
} from '@openfeature/web-sdk'
import { VariablesProvider } from './openfeature-provider.ts'

export type { VariablesOptions } from './variables.ts'

/** Evaluates flags from the variables of a token, with `@openfeature/web-sdk`. */
export class LetheWebProvider extends VariablesProvider implements Provider {
  readonly runsOn = 'client'
  readonly events = new OpenFeatureEventEmitter()

  resolveBooleanEvaluation(flagKey: string, defaultValue: boolean): ResolutionDetails<boolean> {
    return this.resolve(flagKey, defaultValue, 'boolean')
  }

  resolveStringEvaluation(flagKey: string, defaultValue: string): ResolutionDetails<string> {
    return this.resolve(flagKey, defaultValue, 'string')
  }

  resolveNumberEvaluation(flagKey: string, defaultValue: number): ResolutionDetails<number> {
    return this.resolve(flagKey, defaultValue, 'number')
  }

  resolveObjectEvaluation<Value extends JsonValue>(
    flagKey: string,
    defaultValue: Value,
  ): ResolutionDetails<Value> {
    return this.resolve(flagKey, defaultValue, Array.isArray(defaultValue) ? 'array' : 'object')
  }
}
