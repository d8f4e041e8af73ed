import type { ActivityNote } from './activity.ts'
import type { Problems } from './errors.ts'
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

export const maxDomains = 50
export const maxDomainLength = 253

/** As in an address; internationalised domains in their ASCII form. */
const domainPattern = /^(?=.{3,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/

/** In lower case, without repetitions. Adds a problem for text that is not a domain. */
export function readDomains(typed: readonly string[], problems: Problems): string[] {
  const domains = [...new Set(typed.map((text) => text.trim().toLowerCase().replace(/^@/, '')))]
  const wrong = domains.find((domain) => !domainPattern.test(domain))
  if (wrong !== undefined)
    problems.add('domains', `${JSON.stringify(wrong)} is not a domain such as acme.example`)
  return domains
}

export interface SignInRulesStore {
  find(organisationId: string): Promise<SignInRules>
  /** Keeps the rules that `changes` does not name. Returns `false` if the organisation does not exist. */
  change(organisationId: string, changes: Partial<SignInRules>, note: ActivityNote): Promise<boolean>
}
