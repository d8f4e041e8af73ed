import type { Erasure } from './api.ts'

/** What came of an erasure. */
export interface ErasureReport extends Erasure {
  /**
   * Whether `counts` is all that was deleted. `false` when an attempt before got no answer and this one found nothing: then that one
   * may have deleted the data, and what it deleted is not known. Either way the data subject holds no data any more.
   */
  countsKnown: boolean
  requestId: string
}
