import type { Answer } from '../../../support/documented.ts'
import type { TestService } from '../../../support/service.ts'
import type { GeneratedRequest } from './generated-request.ts'
import type { Operation } from './operations.ts'

export type Lines = readonly (readonly [name: string, value: string])[]

/** Header lines that say who sends a request, or from where. */
export interface Credential {
  lines: Lines
  /** How an operation refuses them; `null` where it does not, `'unknown'` where a server may do either. */
  refusal(operation: Operation): 'unauthorized' | 'forbidden' | 'unknown' | null
}

/** What can be seen of an organisation, each part as one text. */
export type Look = Record<string, string>

/** A running service and the operations to try on it: those of the API or those of the console. */
export interface Surface extends TestService {
  operations: readonly Operation[]
  /**
   * Values of parameters in paths, by name, or by `name of path` for one path. The first is there, and another organisation's or
   * nobody's comes later.
   */
  inPath: Record<string, readonly string[]>
  cursors: readonly string[]
  /** By name; the first is that of somebody who may do everything. */
  senders: Record<string, Credential>
  origins: Record<string, Credential>
  /** What `{{…}}` in a request stands for at the moment. */
  meanings: Record<string, string>
  /** Whether requests of a run are sent behind each other without waiting, or each is looked at for what it changes. */
  isPipelined: boolean
  /** What a request may have changed, going by who sent it and what it was answered. */
  effectsOf(request: GeneratedRequest, operation: Operation, answer: Answer): readonly string[]
  /** Puts back what was changed. */
  renew(): Promise<void>
  look(): Promise<Look>
  lookAtTheirs(): Promise<Look>
  /** Fails unless an answer has what every answer of this surface must have, whatever was sent. */
  assertSafe(request: GeneratedRequest, answer: Answer): void
  /** Which fields may be refused though each is as documented, because of each other or of what is stored; `null` for any. */
  mayClash: readonly string[] | null
}
