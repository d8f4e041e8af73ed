import type { ActivityNote } from './activity.ts'
import { type CredentialProof, credentialFormat } from './credential.ts'
import { LetheError } from './errors.ts'
import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Plan } from './retention.ts'

/** Only `analytics` has actions today. */
export const areas = [
  'analytics',
  'trackers',
  'variables',
  'uptime-monitors',
  'status-pages',
  'members',
  'api-keys',
  'billing',
] as const

/** Every scope that an endpoint requires, and what it allows. No other scope can be granted. */
export const scopes = {
  'analytics:view': 'read collected analytics data: list data subjects and read what is stored about them',
  'analytics:collect': 'send sessions and events, and nothing else',
  'analytics:manage-requests': 'create, read, extend, reject, cancel and close privacy requests',
  'analytics:delete-data': "erase a data subject's records, irreversibly",
} as const

export type Scope = keyof typeof scopes

export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopes, text)
}

export function allScopes(): Scope[] {
  return Object.keys(scopes).filter(isScope)
}

/** An API key as stored: everything except the key string. */
export interface ApiKey {
  id: string
  organisationId: string
  name: string
  scopes: readonly Scope[]
  lastFour: string
  createdAt: Instant
  rotatedAt: Instant | null
  expiresAt: Instant | null
  revokedAt: Instant | null
  lastUsedAt: Instant | null
}

/** The key that a request was made with, and the plan of its organisation. */
export interface Caller {
  key: ApiKey
  plan: Plan
}

type ApiKeyState = 'active' | 'expired' | 'revoked'

/** A revoked key stays revoked, regardless of its expiry. */
export function apiKeyState(key: ApiKey, now: Instant): ApiKeyState {
  if (key.revokedAt !== null) return 'revoked'
  if (key.expiresAt !== null && key.expiresAt <= now) return 'expired'
  return 'active'
}

export function keyNotActive(key: ApiKey, now: Instant): LetheError {
  const state = apiKeyState(key, now)
  return new LetheError(
    'invalid_request',
    `The key "${key.name}" is ${state}; only an active key can be rotated, renamed or revoked.`,
  )
}

export const maxKeyNameLength = 64

/** A key's requests on a day (days since 1970-01-01, UTC), and how many a scope or a budget refused. */
export interface KeyDay {
  keyId: string
  day: number
  requests: number
  refusals: number
}

/** How long the usage of keys is kept. */
export const keyUsageDays = 400

export interface ApiKeyStore {
  /**
   * Returns `false` if the organisation does not exist or has another key of this name that is active at
   * `key.createdAt`. Each change stores its `note` in the same transaction.
   */
  create(key: ApiKey, hash: string, note?: ActivityNote): Promise<boolean>
  /** `null` if there is no such key. */
  find(id: string): Promise<ApiKey | null>
  /** The key, its plan and the hash of its string; `null` if there is no such key. Never cached. */
  findCaller(id: string): MaybePromise<(Caller & { hash: string }) | null>
  /** All keys of an organisation in any state, oldest first. */
  list(organisationId: string): Promise<ApiKey[]>
  /**
   * Replaces the string of a key that is active at `now`. Returns the time of rotation, which is later than
   * the previous one even if the clock was set back, since a replay orders rotations by time. Otherwise
   * `null`.
   */
  rotate(id: string, proof: CredentialProof, now: Instant, note?: ActivityNote): Promise<Instant | null>
  /** Returns `false` if the key is not active at `now`. */
  revoke(id: string, now: Instant, note?: ActivityNote): Promise<boolean>
  /**
   * Returns `taken` if another active key of the organisation has this name, and `absent` if the organisation
   * has no such key that is active at `now`.
   */
  rename(
    key: Pick<ApiKey, 'id' | 'organisationId'>,
    name: string,
    now: Instant,
    note: ActivityNote,
  ): Promise<'renamed' | 'taken' | 'absent'>
  /**
   * Stores when keys were last used, unless a later time is stored, and adds to their daily usage. Deletes
   * usage older than `keyUsageDays`. Ignores unknown keys.
   */
  touch(lastUsed: ReadonlyMap<string, Instant>, days?: readonly KeyDay[]): Promise<void>
  /** The days, from `from` on, on which a key was used, in ascending order. */
  listDays(keyId: string, from: number): Promise<KeyDay[]>
}

const keyFormat = credentialFormat('lethe')

/** Matches key strings; leak scanners use it too. Part of the contract. */
export const keyStringPattern = keyFormat.pattern
/** Creates a key string `lethe_<id>_<secret><checksum>`. */
export const createKeyString = keyFormat.create
/** The ID in a key string; `null` for a damaged or foreign string, which is refused without a lookup. */
export const readKeyId = keyFormat.readId
