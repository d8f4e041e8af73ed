import { addCounts, type DataCounts } from '../../domain/activity.ts'
import type { ServicesWithoutSecrets } from '../../domain/services.ts'
import type { Tracker } from '../../domain/tracker.ts'
import { finishDeletions } from '../../maintenance/maintenance.ts'
import { waitForMaintenanceLock } from '../command-kit.ts'
import { counted } from '../progress.ts'
import type { Terminal } from '../terminal.ts'

/** Counts the data of trackers, including expired data. */
export async function countHeld(
  { deletions }: Pick<ServicesWithoutSecrets, 'deletions'>,
  trackers: readonly Tracker[],
): Promise<DataCounts> {
  const total = { subjects: 0, sessions: 0, events: 0 }
  for (const { id } of trackers) addCounts(total, await deletions.count(id))
  return total
}

export function heldInWords({ subjects, sessions, events }: DataCounts): string {
  return `${counted(subjects, 'subject')}, ${counted(sessions, 'session')} and ${counted(events, 'event')}`
}

/** Removes the data of deleted trackers. After an interruption, the service or the same command continues. */
export async function removeWithProgress(
  terminal: Terminal,
  services: ServicesWithoutSecrets,
  isSelected: (tracker: Tracker) => boolean,
): Promise<void> {
  await waitForMaintenanceLock(terminal, services.maintenance, () =>
    finishDeletions(services, {
      isSelected,
      onProgress({ sessions, events }) {
        if (terminal.columns() === null) return
        terminal.draw(`Removing: ${events} events and ${sessions} sessions so far`)
      },
    }),
  )
}
