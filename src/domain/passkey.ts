import type { ActivityNote } from './activity.ts'
import type { Instant } from './instant.ts'
import type { MemberSecrets } from './sign-in-challenge.ts'

/** A key pair in a member's device or password manager (WebAuthn), of which the store has the public half. */
export interface Passkey {
  /** The ID of the credential, in base64url. */
  id: string
  memberId: string
  name: string
  /** COSE, in base64url. */
  publicKey: string
  /** How often it was used, as far as its device counts; otherwise 0. A lower number reveals a copy. */
  signCount: number
  transports: readonly string[]
  deviceType: DeviceType
  /** Whether its provider has a copy, so that losing the device does not lose it. */
  isBackedUp: boolean
  createdAt: Instant
  lastUsedAt: Instant | null
}

export const deviceTypes = ['singleDevice', 'multiDevice'] as const

/** Whether it is bound to one device, or can be on several. */
type DeviceType = (typeof deviceTypes)[number]

/** What passkeys belong to: the host name of the console, and the origin of its pages. */
export interface RelyingParty {
  id: string
  origin: string
}

export const maxPasskeys = 20
export const maxPasskeyNameLength = 64

export interface PasskeyStore {
  /** Oldest first. */
  list(memberId: string): Promise<Passkey[]>
  /** With its member. `null` if it is unknown. */
  find(id: string): Promise<(MemberSecrets & { passkey: Passkey }) | null>
  /**
   * Adds a passkey, and recovery codes if the member has none. If sign-ins so far have proved too little,
   * ends those without this token hash. `null` if a passkey with this ID exists, or if the member does not.
   */
  add(
    passkey: Passkey,
    by: { tokenHash: string; recoveryHashes: readonly string[] },
    note: ActivityNote,
  ): Promise<{ codesAdded: boolean } | null>
  /** Returns `false` if the member has no such passkey. */
  rename(memberId: string, id: string, name: string, note: ActivityNote): Promise<boolean>
  /** Returns `false` if the member has no such passkey. */
  remove(memberId: string, id: string, note: ActivityNote): Promise<boolean>
}
