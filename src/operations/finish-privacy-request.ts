import type { ActivityNote } from '../domain/activity.ts'
import type { Instant } from '../domain/instant.ts'
import type { Journal } from '../domain/journal.ts'
import type { Keyring } from '../domain/keyring.ts'
import type { PrivacyRequestRef, PrivacyRequestStore, RequestEnd } from '../domain/privacy-request.ts'
import type { RequestHandlingStore } from '../domain/request-handling.ts'
import type { SubjectIdentifier } from '../domain/subject-identifier.ts'
import { journalClosings } from './journal-closing.ts'
import { proveNothingHeld } from './nothing-held.ts'

interface FinishDeps {
  privacyRequests: PrivacyRequestStore
  keyring: Keyring
  clock: () => Instant
  requestHandling: RequestHandlingStore
  journal?: Journal | undefined
}

interface WantedEnd extends Omit<RequestEnd, 'now' | 'nothingHeld' | 'guard'> {
  /** The identifiers about which nothing was held at any time since the request was started. */
  nothingHeld: readonly SubjectIdentifier[]
  /** When the last search began: what was stored later, it may not have seen. */
  checkedAt: Instant
}

/** Ends a request as done. Returns `false` if it or the lease has ended, or a subject still waits. */
export async function finishRequest(
  deps: FinishDeps,
  { organisationId, id }: PrivacyRequestRef,
  { nothingHeld: identifiers, checkedAt, ...end }: WantedEnd,
  note: ActivityNote,
): Promise<boolean> {
  const now = deps.clock()
  let isFinished = false
  try {
    await proveNothingHeld(
      { ...deps, clock: () => checkedAt },
      organisationId,
      identifiers,
      async (nothingHeld, guard) => {
        const finish = { ...end, now, nothingHeld, guard }
        const appended = await deps.privacyRequests.finish({ organisationId, id }, finish, note)
        isFinished = appended !== null
        return appended
      },
    )
  } finally {
    // Also if the entries could not be written to the journal, where the closing then waits with them.
    if (isFinished) await journalClosings(deps, [{ organisationId, id }])
  }
  return isFinished
}
