import type { Clock } from '../../domain/instant.ts'
import { isOver, type SignedIn, type SignInStore } from '../../domain/sign-in.ts'
import { hashToken } from '../../domain/token.ts'

/** How old the note of when a sign-in was last seen may become: writing it with every request would help nobody. */
const touchAfterMs = 60_000

/** Who a browser's token stands for; `null` for one that is unknown, ended or over. */
export async function authenticateMember(
  { signIns, clock }: { signIns: SignInStore; clock: Clock },
  token: string,
): Promise<SignedIn | null> {
  const now = clock()
  const found = await signIns.find(hashToken(token))
  if (found === null || isOver(found.signIn, now)) return null
  if (now - found.signIn.lastSeenAt >= touchAfterMs) {
    // Not waited for: a scrub may keep writes waiting, and should it fail, the sign-in merely ends a little earlier.
    signIns.touch(found.signIn.tokenHash, now).catch(() => {})
  }
  return found
}
