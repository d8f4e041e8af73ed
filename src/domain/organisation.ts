import type { ActivityNote } from './activity.ts'
import type { Problems } from './errors.ts'
import { countCharacters } from './identifier.ts'
import type { Instant } from './instant.ts'
import type { Plan, WindowKind } from './retention.ts'

/** Owns trackers and API keys. A key acts for one organisation and sees nothing of another. */
export interface Organisation {
  id: string
  name: string
  plan: Plan
  createdAt: Instant
}

/** Narrower than other ids: an organisation's stands in addresses and in names of files. Stores may hold older ones that are wider. */
const organisationId = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export function checkOrganisationId(id: string, problems: Problems): void {
  if (organisationId.test(id)) return
  problems.add(
    'id',
    'id must be 1 to 64 letters, digits, dots, dashes or underscores, the first a letter or a digit',
  )
}

export interface OrganisationStore {
  /**
   * Stores a new organisation, and how many days it keeps what, as if it had been swept so. `false`, with nothing stored, when the id is
   * taken, if only by one that was deleted.
   */
  create(organisation: Organisation, windows?: Partial<Record<WindowKind, number>>): Promise<boolean>
  /** `null` when there is none with this id. */
  find(id: string): Promise<Organisation | null>
  /** All of them, oldest first. */
  list(): Promise<Organisation[]>
  /** `false` when there is no such organisation. The note is left when the plan was another one. */
  setPlan(id: string, plan: Plan, note?: ActivityNote): Promise<boolean>
  /** Gives it another name, and leaves `note` behind. `false`, with nothing changed, when there is no such organisation. */
  rename(id: string, name: string, note: ActivityNote): Promise<boolean>
}

/** A name people gave: 1 to `maxLength` characters, something other than spaces, no control characters. */
export function checkName(name: string, maxLength: number, problems: Problems): void {
  if (
    name.trim() === '' ||
    countCharacters(name) > maxLength ||
    /\p{Cc}/u.test(name) ||
    !name.isWellFormed()
  ) {
    problems.add('name', `name must be 1 to ${maxLength} characters, no control characters`)
  }
}
