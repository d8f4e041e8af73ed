import type { ActivityNote } from './activity.ts'
import { Problems } from './errors.ts'
import { countCharacters } from './identifier.ts'
import type { Instant } from './instant.ts'
import type { Plan, WindowKind } from './retention.ts'

/** Owns trackers and API keys. A key cannot see other organisations. */
export interface Organisation {
  id: string
  name: string
  plan: Plan
  createdAt: Instant
}

/** Stricter than other IDs, because it appears in URLs and file names. Old stores may contain wider ones. */
const organisationId = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export function checkOrganisationId(id: string, problems: Problems): void {
  if (organisationId.test(id)) return
  problems.add(
    'id',
    'id must be 1 to 64 letters, digits, dots, dashes or underscores, the first a letter or a digit',
  )
}

export interface OrganisationStore {
  /** Stores an organisation with its windows. Returns `false` if the ID is taken, even by a deleted one. */
  create(organisation: Organisation, windows?: Partial<Record<WindowKind, number>>): Promise<boolean>
  /** `null` if there is no such organisation. */
  find(id: string): Promise<Organisation | null>
  /** Oldest first. */
  list(): Promise<Organisation[]>
  /** Returns `false` if there is no such organisation. Stores `note` only if the plan changes. */
  setPlan(id: string, plan: Plan, note?: ActivityNote): Promise<boolean>
  /** Returns `false` if there is no such organisation. */
  rename(id: string, name: string, note: ActivityNote): Promise<boolean>
}

/** Names are given by people. */
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

/** Throws `validation_error` unless `typed` is the name of what is to be revoked or deleted. */
export function requireTypedName(
  typed: string,
  name: string,
  what: string,
  done: 'revoked' | 'deleted',
): void {
  const problems = new Problems()
  if (typed !== name)
    problems.add('name', `the name typed is not the name of this ${what}; nothing was ${done}`)
  problems.throwIfAny()
}
