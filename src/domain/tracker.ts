import type { ActivityNote } from './activity.ts'
import type { Instant } from './instant.ts'

/** A website or app whose visitors are recorded. Its id is unique in the whole store. */
export interface Tracker {
  id: string
  organisationId: string
  name: string
  createdAt: Instant
}

/** A tracker as a caller may name it: what belongs to another organisation is not there. */
export interface TrackerRef {
  organisationId: string
  trackerId: string
}

/** What a caller sees of a tracker: what is older than `since`, where its plan's window begins, has aged out and is not there. */
export interface TrackerView extends TrackerRef {
  since: Instant
}

export interface TrackerStore {
  /** Stores a new tracker. `false`, with nothing stored, when the id is taken or the organisation is not there. */
  create(tracker: Tracker, note?: ActivityNote): Promise<boolean>
  /** Whichever organisation owns it; `null` when there is none. For operators, who see every organisation. */
  find(id: string): Promise<Tracker | null>
  /** An organisation's trackers, oldest first. */
  list(organisationId: string): Promise<Tracker[]>
  /** Leaves `note` behind. `false`, with nothing changed, when the tracker is not visible to the organisation. */
  rename(tracker: TrackerRef, name: string, note: ActivityNote): Promise<boolean>
}
