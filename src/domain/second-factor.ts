import type { ActivityNote } from './activity.ts'
import type { Instant } from './instant.ts'
import type { SecondFactorRule } from './sign-in-rules.ts'

/** The proofs of identity that a member has besides the password, and what the organisation requires. */
export interface SecondFactors {
  rule: SecondFactorRule
  hasPasskey: boolean
  hasTotp: boolean
}

/** What a member can answer to prove their identity. */
export const proofKinds = ['passkey', 'totp', 'recovery-code', 'password', 'single-sign-on'] as const

export type ProofKind = (typeof proofKinds)[number]

/** For the activity. */
export const proofNames: Record<ProofKind, string> = {
  passkey: 'passkey',
  totp: 'authenticator app',
  'recovery-code': 'recovery code',
  password: 'password',
  'single-sign-on': 'single sign-on',
}

/** A proof that was checked, and what it uses up or changes. */
export type Proof =
  | { kind: 'password' }
  /** As stated by the identity provider. */
  | { kind: 'single-sign-on'; verifiedAt: Instant }
  | { kind: 'passkey'; id: string; signCount: number }
  /** `sealedSecret` is `storedSecret`, which was read, sealed with the current secret of the installation. */
  | { kind: 'totp'; step: number; storedSecret: string; sealedSecret: string }
  | { kind: 'recovery-code'; hash: string }

/** A proof, and the challenge that it answers; `null` if it was taken already. */
export interface AnsweredChallenge {
  challengeHash: string | null
  proof: Proof
}

/** What a member must add before anything else, by the rule of the organisation. */
export type MissingFactor = 'second-factor' | 'passkey'

/** What members add, in messages to them. */
export const missingFactorNames: Record<MissingFactor, string> = {
  'second-factor': 'a passkey or an authenticator app',
  passkey: 'a passkey',
}

export function missingFactor(
  { rule, hasPasskey, hasTotp }: SecondFactors,
  method: ProofKind | 'invitation',
): MissingFactor | null {
  if (rule === 'optional' || hasPasskey) return null
  if (rule === 'passkey') return 'passkey'
  // The identity provider is responsible for its own factors.
  return hasTotp || method === 'single-sign-on' ? null : 'second-factor'
}

/** Whether signing in takes a second step, after the password or the identity provider. */
export function needsSecondStep(
  { rule, hasPasskey, hasTotp }: SecondFactors,
  method: ProofKind | 'invitation',
): boolean {
  if (method === 'passkey') return false
  return method === 'single-sign-on' ? rule === 'passkey' && hasPasskey : hasPasskey || hasTotp
}

/** Whether sign-ins that began before a factor was added have proved less than is asked for from now on. */
export function outdatesSignIns(
  { rule, hasPasskey, hasTotp }: SecondFactors,
  added: 'passkey' | 'totp',
): boolean {
  if (hasPasskey) return false
  return !hasTotp || (rule === 'passkey' && added === 'passkey')
}

export interface SecondFactorStore {
  /**
   * Removes everything but the password, for a member who has lost it, and ends all sign-ins. Returns `false`
   * if the organisation has no such member.
   */
  removeAll(organisationId: string, memberId: string, note: ActivityNote): Promise<boolean>
}
