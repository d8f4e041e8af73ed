import type { ActivityNote } from './activity.ts'
import type { Instant } from './instant.ts'
import type { Organisation } from './organisation.ts'
import type { SweptCounts } from './retention.ts'
import type { Tracker, TrackerRef } from './tracker.ts'

/**
 * Trackers and organisations on their way out. One that was deleted is there for nobody from that moment on; what it holds is then
 * removed in steps, and one that broke off goes on where it was.
 */
export interface DeletionStore {
  /**
   * Deletes a tracker, and leaves `note` behind. `false`, with nothing changed, when it is not visible to the organisation or has
   * another name. What is being written to it is waited for.
   */
  deleteTracker(tracker: TrackerRef, name: string, now: Instant, note: ActivityNote): Promise<boolean>
  /**
   * Deletes an organisation with its trackers, keys, members and their sign-ins, and leaves `note` behind in its activity, which
   * outlives it. `false`, with nothing changed, when it is not there or has another name.
   */
  deleteOrganisation(id: string, name: string, now: Instant, note: ActivityNote): Promise<boolean>
  /** The trackers that were deleted and of which something may be left, the first deleted first. */
  listTrackers(): Promise<Tracker[]>
  /** The organisations that were deleted and whose activity is kept. */
  listOrganisations(): Promise<Organisation[]>
  /** How much a tracker holds, whatever its age. */
  count(trackerId: string): Promise<SweptCounts>
  /**
   * Removes about `maxRows` rows of a tracker that was deleted, in small transactions that do not block other requests: what was
   * collected, then the daily totals, then the tracker itself. Not done as long as there may be more. Nothing happens to any other.
   */
  removeTracker(trackerId: string, maxRows: number): Promise<SweptCounts & { isDone: boolean }>
  /** Removes an organisation that was deleted and of which neither trackers nor activity are left. Does nothing otherwise. */
  removeOrganisation(id: string): Promise<void>
}
