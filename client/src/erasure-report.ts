import type { Erasure } from './api.ts'

/** The result of an erasure. */
export interface ErasureReport extends Erasure {
  /**
   * Whether `counts` includes everything that was deleted. `false` if a previous attempt got no response and
   * this one found no data: the previous one may have deleted it. In both cases, the data subject has no data
   * now.
   */
  countsKnown: boolean
  requestId: string
}
