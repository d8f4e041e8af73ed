import type { Origin } from '../domain/activity.ts'
import { LetheError } from '../domain/errors.ts'
import type { Member } from '../domain/member.ts'
import { createRecoveryCodes, hashRecoveryCode } from '../domain/recovery-code.ts'
import { activityNote } from './activity.ts'
import { type FactorDeps, factorsOf } from './second-factor.ts'

/** Replaces all recovery codes. Throws `invalid_request` if the member has no other second factor. */
export async function replaceRecoveryCodes(
  deps: FactorDeps,
  member: Member,
  origin: Origin,
): Promise<string[]> {
  const { passkeys, totp } = await factorsOf(deps, member)
  if (passkeys.length === 0 && !totp) {
    throw new LetheError('invalid_request', 'Add a passkey or an authenticator app first.')
  }
  const { id, organisationId } = member
  const codes = createRecoveryCodes(deps.randomness)
  const note = activityNote(deps, origin, {
    organisationId,
    kind: 'member.recovery-codes-created',
    target: null,
  })
  await deps.recoveryCodes.replace(
    id,
    codes.map((code) => hashRecoveryCode(id, code)),
    note,
  )
  return codes
}
