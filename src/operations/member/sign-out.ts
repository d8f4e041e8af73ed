import type { Origin } from '../../domain/activity.ts'
import type { Clock } from '../../domain/instant.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { SignedIn, SignInStore } from '../../domain/sign-in.ts'
import { activityNote } from '../activity/activity-note.ts'

/** Ends a member's sign-in, or with `everywhere` all of them; their tokens are no good from then on. */
export async function signOut(
  deps: { signIns: SignInStore; clock: Clock; randomness: Randomness },
  { signIn, member }: SignedIn,
  { everywhere }: { everywhere: boolean },
  origin: Origin,
): Promise<void> {
  const { organisationId } = member
  const kind = everywhere ? 'member.signed-out-everywhere' : 'member.signed-out'
  const note = activityNote(deps, origin, { organisationId, kind, target: null })
  if (everywhere) await deps.signIns.endAll(member.id, note)
  else await deps.signIns.end(signIn.tokenHash, note)
}
