import type { Origin } from '../domain/activity.ts'
import { LetheError } from '../domain/errors.ts'
import { missingFactor } from '../domain/second-factor.ts'
import type { SignedIn } from '../domain/sign-in.ts'
import type { SecondFactorRule } from '../domain/sign-in-rules.ts'
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
  const facts = { hasPasskey: passkeys.length > 0, hasTotp: totp !== null }
  const missing = missingFactor(rule, facts, signIn.method)
  if (missing !== null) {
    const what = missing === 'passkey' ? 'a passkey' : 'a passkey or an authenticator app'
    throw new LetheError('invalid_request', `Add ${what} to your own account first.`)
  }
  const target = `second factor: ${rule}`
  const note = activityNote(deps, origin, { organisationId, kind: 'sign-in-rules.changed', target })
  await deps.signInRules.change(organisationId, { secondFactor: rule }, note)
}
