import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ActivityNote } from './activity.ts'
import { LetheError } from './errors.ts'
import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'
import { base62Alphabet, type Randomness } from './randomness.ts'
import type { Plan } from './retention.ts'

/** What is stored of an API key: everything but its string. */
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

/** Who makes a request: a key, on the plan of its organisation. */
export interface Caller {
  key: ApiKey
  plan: Plan
}

type ApiKeyState = 'active' | 'expired' | 'revoked'

/** From the instant of its expiry on a key is expired; revoked is final whatever the clock says. */
export function apiKeyState(key: ApiKey, now: Instant): ApiKeyState {
  if (key.revokedAt !== null) return 'revoked'
  if (key.expiresAt !== null && key.expiresAt <= now) return 'expired'
  return 'active'
}

/** Why a key cannot be rotated, renamed or revoked. */
export function keyNotActive(key: ApiKey, now: Instant): LetheError {
  const state = apiKeyState(key, now)
  return new LetheError(
    'invalid_request',
    `The key "${key.name}" is ${state}; only an active key can be rotated, renamed or revoked.`,
  )
}

export const maxKeyNameLength = 64

/** What stands for a key's string in the store. */
export interface KeyProof {
  /** SHA-256 of the whole string, in hexadecimal digits. */
  hash: string
  lastFour: string
}

/** How often a key was used on a day, counted from 1970 in UTC, and how many of those requests a scope or a budget refused. */
export interface KeyDay {
  keyId: string
  day: number
  requests: number
  refusals: number
}

/** For so many days it is kept how often keys were used. */
export const keptKeyDays = 400

export interface ApiKeyStore {
  /**
   * Stores a new key. `false`, with nothing stored, when another key of the organisation that is active at `key.createdAt` has
   * the same name or the organisation is not there. This and the two changes below leave `note` behind, in their transaction.
   */
  create(key: ApiKey, hash: string, note?: ActivityNote): Promise<boolean>
  /** `null` when there is none with this id. */
  find(id: string): Promise<ApiKey | null>
  /** Who a key stands for and the hash its string must have; `null` when there is none. Always what the store holds now. */
  findCaller(id: string): MaybePromise<(Caller & { hash: string }) | null>
  /** An organisation's keys, oldest first, in whatever state. */
  list(organisationId: string): Promise<ApiKey[]>
  /**
   * Replaces the string of a key that is active at `now`. Hands back the instant of the rotation: `now`, or just after the rotation
   * before where the clock was set back, because rotations are replayed by their instants. `null`, with nothing changed, otherwise.
   */
  rotate(id: string, proof: KeyProof, now: Instant, note?: ActivityNote): Promise<Instant | null>
  /** Revokes a key that is active at `now`, for good. `false`, with nothing changed, otherwise. */
  revoke(id: string, now: Instant, note?: ActivityNote): Promise<boolean>
  /**
   * Gives a key that is active at `now` another name, and leaves `note` behind. Nothing changes when another active key of the
   * organisation has that name (`taken`), or when the organisation has no active key with this id (`absent`).
   */
  rename(
    key: Pick<ApiKey, 'id' | 'organisationId'>,
    name: string,
    now: Instant,
    note: ActivityNote,
  ): Promise<'renamed' | 'taken' | 'absent'>
  /**
   * Notes when keys were last used; an instant earlier than the one stored changes nothing. Adds to how often they were, and forgets
   * days of theirs long past. Keys that are not there are passed over.
   */
  touch(lastUsed: ReadonlyMap<string, Instant>, days?: readonly KeyDay[]): Promise<void>
  /** The days from one on, in their order, on which a key was used. */
  listDays(keyId: string, from: number): Promise<KeyDay[]>
}

export const keyIdLength = 16
const secretLength = 32
const checksumLength = 6

/** Matches what looks like a key of ours, for leak scanners as for us. Part of the contract. */
export const keyStringPattern = /^lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]{38}$/

/** Makes a key string `lethe_<id>_<secret><checksum>` for a key id. */
export function createKeyString(id: string, randomness: Randomness): string {
  const body = `lethe_${id}_${randomness.base62(secretLength)}`
  return body + checksum(body)
}

/** The key id a string speaks of; `null` for one that is foreign or damaged, which needs no look-up to be refused. */
export function readKeyId(text: string): string | null {
  if (!keyStringPattern.test(text)) return null
  const body = text.slice(0, -checksumLength)
  if (checksum(body) !== text.slice(-checksumLength)) return null
  return text.slice('lethe_'.length, 'lethe_'.length + keyIdLength)
}

/** What the store may keep of a key string. */
export function proveKeyString(text: string): KeyProof {
  return { hash: hashKeyString(text), lastFour: text.slice(-4) }
}

/** As text: a buffer would take three times as long to make. */
export function hashKeyString(text: string): string {
  return hash('sha256', text, 'hex')
}

/** A client may choose any request id; should it choose its key, neither the log nor the activity keeps it. */
export function withoutKeys(requestId: string): string {
  if (!requestId.includes('lethe_')) return requestId
  return requestId.replaceAll(/lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]+/g, '[key]')
}

/** CRC-32 of the text in base62, padded with zeros on the left. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = base62Alphabet.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** The areas of the product that a scope can speak of. Only `analytics` has actions today. */
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

/** Every scope an endpoint knows, with what it allows. No other can be granted. */
export const scopes = {
  'analytics:view': 'read collected analytics data: list data subjects and read what is stored about them',
  'analytics:delete-data': "erase a data subject's records, irreversibly",
} as const

export type Scope = keyof typeof scopes

export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopes, text)
}

export function allScopes(): Scope[] {
  return Object.keys(scopes).filter(isScope)
}
