import type { ActivityNote, DataCounts } from './activity.ts'
import type { Instant } from './instant.ts'
import type { Organisation } from './organisation.ts'
import type { Tracker, TrackerRef } from './tracker.ts'

/**
 * Deletion of trackers and organisations. A deleted one is invisible immediately; its data is then removed in
 * steps, which continue after an interruption.
 */
export interface DeletionStore {
  /** Returns `false` if the tracker is not visible or has another name. Waits for writes to the tracker. */
  deleteTracker(tracker: TrackerRef, name: string, now: Instant, note: ActivityNote): Promise<boolean>
  /**
   * Deletes an organisation with its trackers, keys, members and sign-ins; its activity log remains. Returns
   * `false` if it does not exist or has another name.
   */
  deleteOrganisation(id: string, name: string, now: Instant, note: ActivityNote): Promise<boolean>
  /** Deleted trackers that may still hold data, in order of deletion. */
  listTrackers(): Promise<Tracker[]>
  /** Deleted organisations whose activity log is kept. */
  listOrganisations(): Promise<Organisation[]>
  /** Counts everything that a tracker holds, regardless of age. */
  count(trackerId: string): Promise<DataCounts>
  /**
   * Removes about `maxRows` rows of a deleted tracker in small transactions that do not block requests: its
   * data, then its totals, then the tracker. Other trackers are not affected.
   */
  removeTracker(trackerId: string, maxRows: number): Promise<DataCounts & { isDone: boolean }>
  /** Removes a deleted organisation that has no trackers or activity left. Otherwise does nothing. */
  removeOrganisation(id: string): Promise<void>
}
