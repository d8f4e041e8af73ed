import { maxPageBytes } from '../../domain/page.ts'
import type { Values } from '../nouns/row.ts'

/**
 * One row when the subject with the key `$1` holds data since `$3` and its tracker is visible to the organisation `$2`, else none.
 * What is joined to it is read at the same moment, and on the same shard.
 */
export const presentSubject = `(SELECT subjects.interleaved FROM subjects JOIN trackers ON trackers.id = tracker_id
  WHERE subject_key = $1 AND organisation_id = $2 AND last_seen_at >= $3
    AND deleted_at IS NULL) AS present`

/** What was joined to a present subject, told by its first column, which is never null; `null` when the subject is not there. */
export function rowsOf(joined: readonly Values[]): Values[] | null {
  return joined.length === 0 ? null : joined.filter(([first]) => first !== null)
}

/**
 * How many bytes of a text the rows hold that come before the one before this, as the column `held`. The rows of a page come all at
 * once, so what would not fit is left behind here; a text's length is known without reading it.
 */
export function heldBefore(text: string, order: string): string {
  const before = `(ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING)`
  return `coalesce(sum(octet_length(${text})) OVER ${before}, 0) AS held`
}

/** The rows that fit into a page, of which one always does, and the one behind them that tells that more follow. */
export const withinPage = `held <= ${maxPageBytes}`

/** Later than every instant: newest first, a list begins behind it. */
export const behindAll = Number.MAX_SAFE_INTEGER
