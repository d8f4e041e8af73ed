/**
 * How what a tombstone refuses is deleted of one subject, as statements on its key (the first parameter) and, but for the last two, the
 * instant until which it is refused (the second). An engine says how it numbers parameters, and finds a subject's own row. To be run in
 * this order.
 */
export function refusalSql(parameter: (number: number) => string, ownRow: string) {
  const [key, until] = [parameter(1), parameter(2)]
  const ofSession = `subject_key = ${key} AND session_id = sessions.session_id`
  const begunBefore = `subject_key = ${key} AND started_at <= ${until}`
  const left = (of: string, table: string) => `(SELECT ${of} FROM ${table} WHERE subject_key = ${key})`
  return {
    // Also what was said of a session that began before and ended later: that is refused too. Rather one too many.
    deleteIdentifiers: `DELETE FROM identifiers WHERE subject_key = ${key} AND (brought_at <= ${until}
      OR brought_at <= (SELECT max(attributes_at) FROM sessions WHERE ${begunBefore}))`,
    deleteEvents: `DELETE FROM events WHERE subject_key = ${key} AND occurred_at <= ${until}`,
    deleteSessions: `DELETE FROM sessions WHERE ${begunBefore}
      AND NOT EXISTS (SELECT 1 FROM events WHERE ${ofSession})`,
    // What is left is what events that came later would have opened: their span, and no attributes.
    shortenSessions: `UPDATE sessions SET attributes = '{}', attributes_at = NULL,
      started_at = (SELECT min(occurred_at) FROM events WHERE ${ofSession}),
      ended_at = (SELECT max(occurred_at) FROM events WHERE ${ofSession}),
      event_count = (SELECT count(*) FROM events WHERE ${ofSession}) WHERE ${begunBefore}`,
    deleteSubject: `DELETE FROM subjects WHERE ${ownRow}
      AND NOT EXISTS (SELECT 1 FROM sessions WHERE subject_key = ${key})`,
    // Nothing that is left has happened before the first start.
    updateSubject: `UPDATE subjects SET first_seen_at = ${left('min(started_at)', 'sessions')},
      last_seen_at = ${left('max(ended_at)', 'sessions')}, oldest_at = ${left('min(started_at)', 'sessions')},
      session_count = ${left('count(*)', 'sessions')}, event_count = ${left('count(*)', 'events')}
      WHERE ${ownRow}`,
  }
}
