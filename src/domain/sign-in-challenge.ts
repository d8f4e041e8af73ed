import type { Instant } from './instant.ts'
import type { Member } from './member.ts'

/** What a browser has to answer next. Its token is with the browser, and identifies it once. */
export interface SignInChallenge {
  tokenHash: string
  kind: ChallengeKind
  /** `null` if the browser has not said who it is. */
  memberId: string | null
  /** Whatever the answer needs, in JSON. */
  data: string
  createdAt: Instant
  expiresAt: Instant
}

export const challengeKinds = [
  /** Sign in with a passkey. */
  'passkey',
  /** Prove a second factor after the password. */
  'second-factor',
  /** Prove again who is signed in. */
  'verification',
  'passkey-registration',
  'totp-registration',
  /** Come back from the identity provider. */
  'single-sign-on',
] as const

export type ChallengeKind = (typeof challengeKinds)[number]

export const challengeMs = 5 * 60_000

/** A member, and the hash of the password; `null` without one. */
export interface MemberSecrets {
  member: Member
  passwordHash: string | null
}

/** A challenge with its member; `null` if the browser has not said who it is. */
export interface FoundChallenge {
  challenge: SignInChallenge
  of: MemberSecrets | null
}

export interface SignInChallengeStore {
  /** Also deletes expired ones. Returns `false` if its member does not exist. */
  create(challenge: SignInChallenge): Promise<boolean>
  /** `null` if it is unknown, expired, used or of another kind. */
  find(tokenHash: string, kind: ChallengeKind, now: Instant): Promise<FoundChallenge | null>
  /** Deletes it. Returns `false` if it is already deleted, unknown, expired or of another kind. */
  take(tokenHash: string, kind: ChallengeKind, now: Instant): Promise<boolean>
}
