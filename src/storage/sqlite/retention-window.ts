import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../domain/instant.ts'
import type { SweepStep, WindowSettling } from '../../domain/retention.ts'
import type { OrganisationWindow } from '../../domain/retention-window.ts'
import { sweptBefore } from '../rows/retention-window.ts'
import type { Row } from '../rows/row.ts'
import { rememberedWindows, settleWindows, windowColumns, windowValues } from '../settle-windows.ts'
import { transaction } from './connection.ts'

export function retentionWindowQueries(db: DatabaseSync) {
  const all = db.prepare(rememberedWindows)
  const ofOne = db.prepare(`${rememberedWindows} WHERE o.id = ?`)
  const ofTracker = db.prepare(
    `${rememberedWindows} AND w.kind = 'visitors' JOIN trackers t ON t.organisation_id = o.id WHERE t.id = ?`,
  )
  const ofActivity = db.prepare(`${rememberedWindows} AND w.kind = 'activity' WHERE o.id = ?`)
  return {
    settled(settling: WindowSettling) {
      const { organisationId } = settling
      return settleWindows(organisationId === undefined ? all.all() : ofOne.all(organisationId), settling)
    },
    /** Before which instant a step may delete of a tracker; `null` when it is not there. */
    trackerSweptBefore(trackerId: string, step: SweepStep): Instant | null {
      const row: Row | undefined = ofTracker.get(trackerId)
      return row ? sweptBefore(row, 'visitors', step) : null
    },
    /** The same for an organisation's activity. */
    activitySweptBefore(organisationId: string, step: SweepStep): Instant | null {
      const row: Row | undefined = ofActivity.get(organisationId)
      return row ? sweptBefore(row, 'activity', step) : null
    },
  }
}

export function retentionWindowCommands(db: DatabaseSync) {
  const { settled } = retentionWindowQueries(db)
  const remember = db.prepare(
    `INSERT OR REPLACE INTO retention_windows (${windowColumns.join(', ')}) VALUES (?, ?, ?, ?, ?)`,
  )
  return {
    settleWindows: (settling: WindowSettling): OrganisationWindow[] =>
      transaction(db, () => {
        const { windows, changed } = settled(settling)
        for (const window of changed) remember.run(...windowValues(window))
        return windows
      }),
  }
}
