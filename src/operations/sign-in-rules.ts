import type { Origin } from '../domain/activity.ts'
import { LetheError, Problems } from '../domain/errors.ts'
import { missingFactor, missingFactorNames } from '../domain/second-factor.ts'
import type { SignedIn } from '../domain/sign-in.ts'
import {
  readDomains,
  type SecondFactorRule,
  type SignInRules,
  type SignInRulesStore,
} from '../domain/sign-in-rules.ts'
import { activityNote } from './activity.ts'
import { type FactorDeps, factorsOf } from './second-factor.ts'

/**
 * Takes effect with the next request of every member. Throws `invalid_request` if the admin does not meet the
 * rule, which may be impossible here.
 */
export async function changeSecondFactorRule(
  deps: FactorDeps,
  { member, signIn }: SignedIn,
  rule: SecondFactorRule,
  origin: Origin,
): Promise<void> {
  const { organisationId } = member
  const { passkeys, totp } = await factorsOf(deps, member)
  const facts = { rule, hasPasskey: passkeys.length > 0, hasTotp: totp !== null }
  const missing = missingFactor(facts, signIn.method)
  if (missing !== null) {
    throw new LetheError('invalid_request', `Add ${missingFactorNames[missing]} to your own account first.`)
  }
  const target = `second factor: ${rule}`
  const note = activityNote(deps, origin, { organisationId, kind: 'sign-in-rules.changed', target })
  await deps.signInRules.change(organisationId, { secondFactor: rule }, note)
}

type RuleDeps = { signInRules: SignInRulesStore } & Pick<FactorDeps, 'clock' | 'randomness'>

/** People with verified addresses of these domains may join. Throws `validation_error` for other text. */
export async function changeDomains(
  deps: RuleDeps,
  organisationId: string,
  { domains: typed, domainRole }: Pick<SignInRules, 'domains' | 'domainRole'>,
  origin: Origin,
): Promise<void> {
  const problems = new Problems()
  const domains = readDomains(typed, problems)
  problems.throwIfAny()
  const target = domains.length === 0 ? 'domains: none' : `domains: ${domains.join(', ')} as ${domainRole}`
  const note = activityNote(deps, origin, { organisationId, kind: 'sign-in-rules.changed', target })
  await deps.signInRules.change(organisationId, { domains, domainRole }, note)
}

/**
 * Whether members may sign in with a password. Throws `invalid_request` if an admin who did not come by
 * single sign-on wants to forbid it, because single sign-on might not work.
 */
export async function changePasswordRule(
  deps: RuleDeps,
  { member: { organisationId }, signIn }: SignedIn,
  { passwordAllowed, isAvailable }: { passwordAllowed: boolean; isAvailable: boolean },
  origin: Origin,
): Promise<void> {
  if (!passwordAllowed && !(isAvailable && signIn.method === 'single-sign-on')) {
    throw new LetheError(
      'invalid_request',
      'Sign in by single sign-on first. That shows that it works before passwords are no longer accepted.',
    )
  }
  const target = `password: ${passwordAllowed ? 'allowed' : 'not allowed'}`
  const note = activityNote(deps, origin, { organisationId, kind: 'sign-in-rules.changed', target })
  await deps.signInRules.change(organisationId, { passwordAllowed }, note)
}
