import type { ActivityNote } from './activity.ts'
import type { Instant } from './instant.ts'
import type { Plan } from './plan.ts'

/** Owns trackers and API keys. A key acts for one organisation and sees nothing of another. */
export interface Organisation {
  id: string
  name: string
  plan: Plan
  createdAt: Instant
}

export interface OrganisationStore {
  /** Stores a new organisation. `false`, with nothing stored, when the id is taken. */
  create(organisation: Organisation): Promise<boolean>
  /** `null` when there is none with this id. */
  find(id: string): Promise<Organisation | null>
  /** All of them, oldest first. */
  list(): Promise<Organisation[]>
  /** `false` when there is no such organisation. */
  setPlan(id: string, plan: Plan): Promise<boolean>
  /** Gives it another name, and leaves `note` behind. `false`, with nothing changed, when there is no such organisation. */
  rename(id: string, name: string, note: ActivityNote): Promise<boolean>
}
