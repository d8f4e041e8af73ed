import type { ActivityNote } from './activity.ts'
import type { Instant } from './instant.ts'

/** A website or app whose visitors are recorded. Its ID is unique in the store. */
export interface Tracker {
  id: string
  organisationId: string
  name: string
  createdAt: Instant
}

/** A tracker of an organisation. Other organisations' trackers are not visible. */
export interface TrackerRef {
  organisationId: string
  trackerId: string
}

/** What a caller can see of a tracker. Data before `since`, the start of the plan's window, has aged out. */
export interface TrackerView extends TrackerRef {
  since: Instant
}

export interface TrackerStore {
  /** Returns `false` if the ID is taken or the organisation does not exist. */
  create(tracker: Tracker, note?: ActivityNote): Promise<boolean>
  /** Finds a tracker of any organisation, for operators. `null` if there is none. */
  find(id: string): Promise<Tracker | null>
  /** Oldest first. */
  list(organisationId: string): Promise<Tracker[]>
  /** Returns `false` if the tracker is not visible. */
  rename(tracker: TrackerRef, name: string, note: ActivityNote): Promise<boolean>
}
