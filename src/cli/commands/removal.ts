import type { SweptCounts } from '../../domain/retention.ts'
import type { ServicesWithoutSecrets } from '../../domain/services.ts'
import type { Tracker } from '../../domain/tracker.ts'
import { finishDeletions } from '../../maintenance/maintenance.ts'
import { whenAlone } from '../command-kit.ts'
import type { Terminal } from '../terminal.ts'

/** What trackers hold, whatever its age. */
export async function countHeld(
  { deletions }: Pick<ServicesWithoutSecrets, 'deletions'>,
  trackers: readonly Tracker[],
): Promise<SweptCounts> {
  const total = { subjects: 0, sessions: 0, events: 0 }
  for (const { id } of trackers) {
    const { subjects, sessions, events } = await deletions.count(id)
    total.subjects += subjects
    total.sessions += sessions
    total.events += events
  }
  return total
}

export function heldInWords({ subjects, sessions, events }: SweptCounts): string {
  return `${subjects} subjects, ${sessions} sessions and ${events} events`
}

/** Removes what trackers hold that were deleted. Whoever breaks it off can let the service, or the same command, go on. */
export async function removeWithProgress(
  terminal: Terminal,
  services: ServicesWithoutSecrets,
  isSelected: (tracker: Tracker) => boolean,
): Promise<void> {
  await whenAlone(terminal, services.maintenance, () =>
    finishDeletions(services, {
      isSelected,
      onProgress({ sessions, events }) {
        if (terminal.columns() === null) return
        terminal.draw(`Removing: ${events} events and ${sessions} sessions so far`)
      },
    }),
  )
}
