import { statement } from '../nouns/statement.ts'
import { identifiersAsSeen } from './identifier.ts'

/**
 * A subject `s` as it is to be seen since an instant: as if what has aged out were swept already. One statement sees one
 * moment, and looks at sessions and events only where something has aged out that waits for the sweeper. In the order of
 * `summaryColumns`. `key` is the subject's: for one subject the parameter, which tells a cluster the shard, as no column does.
 */
export const asSeen = (since: string, key: string) => `s.subject_id,
  CASE WHEN s.oldest_at >= ${since} OR s.last_seen_at < ${since} THEN s.first_seen_at
    ELSE (SELECT min(x.started_at) FROM sessions x WHERE x.subject_key = ${key} AND x.ended_at >= ${since})
  END AS first_seen_at,
  s.last_seen_at,
  CASE WHEN s.oldest_at >= ${since} OR s.last_seen_at < ${since} THEN s.session_count
    ELSE s.session_count - (SELECT count(*) FROM sessions x
                            WHERE x.subject_key = ${key} AND x.started_at < ${since} AND x.ended_at < ${since})
  END AS session_count,
  CASE WHEN s.oldest_at >= ${since} OR s.last_seen_at < ${since} THEN s.event_count
    ELSE s.event_count - (SELECT count(*) FROM events e WHERE e.subject_key = ${key} AND e.occurred_at < ${since})
  END AS event_count`

const attributesAsSeen = (since: string, key: string) =>
  `(SELECT x.attributes FROM sessions x WHERE x.subject_key = ${key} AND x.ended_at >= ${since}
    ORDER BY x.started_at DESC, x.session_id DESC LIMIT 1)`

/** The same, then its attributes and its identifiers. */
export const recordAsSeen = (since: string, key: string) =>
  `${asSeen(since, key)}, ${attributesAsSeen(since, key)}, ${identifiersAsSeen(since, key)}`

export const readOne = statement(
  `SELECT ${recordAsSeen('$1', '$2')} FROM subjects s JOIN trackers t ON t.id = s.tracker_id
   WHERE s.subject_key = $2 AND s.last_seen_at >= $1 AND t.organisation_id = $3 AND t.deleted_at IS NULL`,
)
