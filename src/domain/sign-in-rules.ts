import type { ActivityNote } from './activity.ts'
import type { Role } from './member.ts'

/** Whether members need a second factor: any, or a passkey. */
export const secondFactorRules = ['optional', 'required', 'passkey'] as const

export type SecondFactorRule = (typeof secondFactorRules)[number]

/** How the members of an organisation may sign in. */
export interface SignInRules {
  secondFactor: SecondFactorRule
  passwordAllowed: boolean
  /** People with verified addresses of these domains may join by single sign-on. */
  domains: readonly string[]
  /** Their role. */
  domainRole: Role
}

export const defaultSignInRules: SignInRules = {
  secondFactor: 'optional',
  passwordAllowed: true,
  domains: [],
  domainRole: 'viewer',
}

export interface SignInRulesStore {
  find(organisationId: string): Promise<SignInRules>
  /** Keeps the rules that `changes` does not name. Returns `false` if the organisation does not exist. */
  change(organisationId: string, changes: Partial<SignInRules>, note: ActivityNote): Promise<boolean>
}
