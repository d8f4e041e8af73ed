import type { Answer } from '../../../support/documented.ts'
import type { TestService } from '../../../support/service.ts'
import type { GeneratedRequest } from './generated-request.ts'
import type { Operation } from './operations.ts'

export type Lines = readonly (readonly [name: string, value: string])[]

/** Header lines that identify a sender or an origin. */
export interface Credential {
  lines: Lines
  /** How an operation refuses them; `null` if it accepts them, `'unknown'` if a server may do either. */
  refusal(operation: Operation): 'unauthorized' | 'forbidden' | 'unknown' | null
}

/** The visible state of an organisation, each part as text. */
export type Look = Record<string, string>

/** A running service and the operations under test: those of the API or of the console. */
export interface Surface extends TestService {
  operations: readonly Operation[]
  /**
   * Values of path parameters, by name, or by `name of path` for one path. The first exists; values of
   * another organisation and unknown values come later.
   */
  inPath: Record<string, readonly string[]>
  cursors: readonly string[]
  /** By name; the first may do everything. */
  senders: Record<string, Credential>
  origins: Record<string, Credential>
  /** The current values of names in `{{…}}`. */
  meanings: Record<string, string>
  /** Whether the requests of a run are pipelined; otherwise, the changes of each are checked. */
  isPipelined: boolean
  /** What a request may have changed, depending on its sender and the answer. */
  effectsOf(request: GeneratedRequest, operation: Operation, answer: Answer): readonly string[]
  /** Restores what was changed. */
  renew(): Promise<void>
  look(): Promise<Look>
  lookAtTheirs(): Promise<Look>
  /** Fails unless an answer has what every answer of this surface must have, for any request. */
  assertSafe(request: GeneratedRequest, answer: Answer): void
  /** Fields that may be refused though valid, because of each other or of stored data; `null` for any. */
  mayClash: readonly string[] | null
}
