import type { ActivityKind, ActivityNote, Origin } from '../../domain/activity.ts'
import type { Clock } from '../../domain/instant.ts'
import { withoutKeys } from '../../domain/key-string.ts'
import type { Randomness } from '../../domain/randomness.ts'

/** What a change leaves behind in the activity of its organisation. */
export function activityNote(
  { clock, randomness }: { clock: Clock; randomness: Randomness },
  { actor, requestId }: Origin,
  what: { organisationId: string; kind: ActivityKind; target: string | null },
): ActivityNote {
  const id = randomness.uuid()
  return { id, at: clock(), actor, requestId: requestId && withoutKeys(requestId), ...what }
}
