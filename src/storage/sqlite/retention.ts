import type { RetentionStore, SweepStep } from '../../domain/retention.ts'
import { integer } from '../rows/row.ts'
import { type activityCommands, agedActivity } from './activity.ts'
import type { Connections } from './connections.ts'
import { type retentionWindowCommands, retentionWindowQueries } from './retention-window.ts'
import type { sweepCommands } from './sweep.ts'

type Commands = ReturnType<typeof retentionWindowCommands> &
  ReturnType<typeof sweepCommands> &
  ReturnType<typeof activityCommands>

export function retentionStore({ reader, writer }: Connections<Commands>): RetentionStore {
  const windows = retentionWindowQueries(reader)
  const aged = reader.prepare('SELECT 1 FROM subjects WHERE tracker_id = ? AND oldest_at < ? LIMIT 1')
  const count = (rows: string) =>
    `(SELECT count(*) FROM subjects JOIN ${rows} USING (subject_key) WHERE tracker_id = ?1 AND oldest_at < ?2`
  const countBefore = reader.prepare(
    `SELECT (SELECT count(*) FROM subjects WHERE tracker_id = ?1 AND last_seen_at < ?2) AS subjects,
       ${count('sessions')} AND started_at < ?2 AND ended_at < ?2) AS sessions,
       ${count('events')} AND occurred_at < ?2) AS events`,
  )
  const activity = agedActivity(reader)

  /** Whether a step may find something to delete in a tracker. */
  function hasAged(trackerId: string, step: SweepStep): boolean {
    const since = windows.trackerSweptBefore(trackerId, step)
    return since !== null && aged.get(trackerId, since) !== undefined
  }

  // Mostly there is nothing to do, and then the writer is not disturbed.
  return {
    async settleWindows(settling) {
      const settled = windows.settled(settling)
      return settled.changed.length === 0 ? settled.windows : writer.run('settleWindows', settling)
    },
    sweep: async (trackerId, step) =>
      hasAged(trackerId, step)
        ? writer.run('sweep', trackerId, step)
        : { subjects: 0, sessions: 0, events: 0, isDone: true },
    sweepActivity: async (organisationId, step) =>
      activity.hasAny(organisationId, step)
        ? writer.run('sweepActivity', organisationId, step)
        : { entries: 0, isDone: true },
    async countBefore(trackerId, since) {
      const row = countBefore.get(trackerId, since) ?? {}
      return {
        subjects: integer(row, 'subjects'),
        sessions: integer(row, 'sessions'),
        events: integer(row, 'events'),
      }
    },
    countActivityBefore: async (organisationId, since) => activity.countBefore(organisationId, since),
  }
}
