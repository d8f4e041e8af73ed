import type { ActivityNote } from './activity.ts'
import { type CredentialProof, credentialFormat } from './credential.ts'
import { LetheError } from './errors.ts'
import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { TrackerRef } from './tracker.ts'

/** A credential that reads the variables of one tracker, as stored: everything except the token string. */
export interface VariableToken {
  id: string
  trackerId: string
  name: string
  lastFour: string
  createdAt: Instant
  rotatedAt: Instant | null
  revokedAt: Instant | null
  lastUsedAt: Instant | null
}

/** What a request with a token may read. */
export interface VariableReader {
  tokenId: string
  trackerId: string
  organisationId: string
  /** Identifies the current variables and their version. */
  digest: string
}

export const maxTokenNameLength = 64

export interface VariableTokenStore {
  /**
   * Returns `taken` if another active token of the tracker has this name, and `absent` if the tracker is not
   * visible. Each change stores its `note` in the same transaction.
   */
  create(
    tracker: TrackerRef,
    token: VariableToken,
    hash: string,
    note: ActivityNote,
  ): Promise<'created' | 'taken' | 'absent'>
  /** The token with its organisation; `null` if there is none, or its tracker was deleted. */
  find(id: string): Promise<(VariableToken & { organisationId: string }) | null>
  /**
   * What an active token may read now, with the hash of its string; `null` if there is none. Never outdated.
   */
  findReader(id: string): MaybePromise<(VariableReader & { hash: string }) | null>
  /** All tokens of a tracker in any state, oldest first. */
  list(trackerId: string): Promise<VariableToken[]>
  /**
   * Replaces the string of an active token. Returns the time of rotation, which is later than the previous
   * one even if the clock was set back; otherwise `null`.
   */
  rotate(id: string, proof: CredentialProof, now: Instant, note: ActivityNote): Promise<Instant | null>
  /** Returns `false` if the token is not active. */
  revoke(id: string, now: Instant, note: ActivityNote): Promise<boolean>
  /** Stores when tokens were last used, unless a later time is stored. Ignores unknown tokens. */
  touch(lastUsed: ReadonlyMap<string, Instant>): Promise<void>
}

export function tokenNotActive({ name }: VariableToken): LetheError {
  return new LetheError(
    'invalid_request',
    `The variable token "${name}" is revoked; only an active token can be rotated or revoked.`,
  )
}

const tokenFormat = credentialFormat('lethevar')

/** Matches token strings; leak scanners use it too. Part of the contract. */
export const tokenStringPattern = tokenFormat.pattern
/** Creates a token string `lethevar_<id>_<secret><checksum>`. */
export const createTokenString = tokenFormat.create
/** The ID in a token string; `null` for a damaged or foreign string, which is refused without a lookup. */
export const readTokenId = tokenFormat.readId
