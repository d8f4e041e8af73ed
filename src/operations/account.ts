import type { Origin } from '../domain/activity.ts'
import { notFound } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { Language } from '../domain/language.ts'
import type { MemberStore } from '../domain/member.ts'
import type { Randomness } from '../domain/randomness.ts'
import { isOver, type SignedIn, type SignIn, type SignInStore } from '../domain/sign-in.ts'
import { activityNote } from './activity.ts'

interface AccountDeps {
  signIns: SignInStore
  clock: Clock
  randomness: Randomness
}

/** The sign-ins of the member that have not ended, last used first. */
export async function listSignIns({ signIns, clock }: AccountDeps, { member }: SignedIn): Promise<SignIn[]> {
  const now = clock()
  const all = await signIns.list(member.id)
  return all.filter((signIn) => !isOver(signIn, now)).sort((a, b) => b.lastSeenAt - a.lastSeenAt)
}

/** Ends one of the member's sign-ins. Throws `not_found` if the member has no such sign-in. */
export async function endSignIn(
  deps: AccountDeps,
  { member, signIn: own }: SignedIn,
  id: string,
  origin: Origin,
): Promise<void> {
  const found = (await deps.signIns.list(member.id)).find((signIn) => signIn.id === id)
  const { organisationId } = member
  const kind = found?.id === own.id ? 'member.signed-out' : 'member.signed-out-elsewhere'
  const note = activityNote(deps, origin, { organisationId, kind, target: found?.device ?? null })
  if (!found || !(await deps.signIns.end(found.tokenHash, note))) throw notFound('This session')
}

/** Ends all sign-ins of the member except this one. */
export async function endOtherSignIns(
  deps: AccountDeps,
  { member, signIn }: SignedIn,
  origin: Origin,
): Promise<void> {
  const { id, organisationId } = member
  const kind = 'member.signed-out-elsewhere'
  const note = activityNote(deps, origin, { organisationId, kind, target: null })
  await deps.signIns.endOthers(id, signIn.tokenHash, note)
}

/** Sets the language of the documents that the member makes; `null` for that of the organisation. */
export async function setLanguage(
  deps: { members: MemberStore; clock: Clock; randomness: Randomness },
  { id, organisationId }: SignedIn['member'],
  language: Language | null,
  origin: Origin,
): Promise<void> {
  const kind = 'member.language-changed'
  const note = activityNote(deps, origin, { organisationId, kind, target: language })
  await deps.members.setLanguage({ organisationId, id }, language, note)
}
