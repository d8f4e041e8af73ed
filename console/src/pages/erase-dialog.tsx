import { useState } from 'preact/hooks'
import { erase, erasuresLeft } from '../erased.ts'
import { Confirm } from '../parts/confirm.tsx'
import { tellFailure } from '../parts/toasts.tsx'
import { counted, formatNumber, When } from '../parts/when.tsx'
import { useResource } from '../resource.ts'
import { navigate } from '../router.tsx'
import { seek } from '../sought.ts'
import type { FoundSubject, TrackerList } from '../types.ts'

/** A data subject to erase, with what can be seen of it. */
type Erasable = Pick<FoundSubject, 'trackerId' | 'subjectId' | 'counts'>

interface EraseDialogProps {
  subjects: readonly Erasable[]
  /** What must be typed, and what that is. */
  typing: { what: string; text: string }
  onClose(): void
}

/** Says what will go, on which trackers, and erases it once it is confirmed: one data subject after the other, each with its receipt. */
export function EraseDialog({ subjects, typing, onClose }: EraseDialogProps) {
  const [done, setDone] = useState(0)
  const left = erasuresLeft()
  async function eraseAll(): Promise<void> {
    const indexes: number[] = []
    try {
      for (const subject of subjects) {
        indexes.push((await erase(subject)).ledgerIndex)
        setDone(indexes.length)
      }
    } catch (error) {
      if (indexes.length === 0) throw error
      tellFailure(
        new Error(`${subjects.length - indexes.length} of ${subjects.length} are left. ${messageOf(error)}`),
      )
    }
    // The page of whoever was erased is not to be gone back to.
    seek('')
    navigate(`/console/erasures/${indexes.join(',')}`, { replace: true })
  }
  return (
    <Confirm
      title={subjects.length === 1 ? 'Erase this data subject' : `Erase ${subjects.length} data subjects`}
      action={done > 0 ? `Erasing, ${done} of ${subjects.length}` : 'Erase for good'}
      kind="danger"
      typing={{ ...typing, field: 'subjectId' }}
      onConfirm={eraseAll}
      onClose={onClose}
    >
      <Going subjects={subjects} />
      <p>
        It cannot be undone. Daily totals stay: they lead to nobody. You get a certificate with{' '}
        {subjects.length === 1 ? 'a receipt' : 'a receipt for each'}.
      </p>
      {left && (
        <p class="muted">
          You can erase {formatNumber(left.remaining)} more until <When at={left.resetsAt} />.
        </p>
      )}
    </Confirm>
  )
}

/** What will be deleted, tracker by tracker. */
function Going({ subjects }: { subjects: readonly Erasable[] }) {
  const trackers = useResource<TrackerList>('/trackers')
  const byTracker = Object.groupBy(subjects, ({ trackerId }) => trackerId)
  const nameOf = (id: string) => trackers.data?.trackers.find((tracker) => tracker.id === id)?.name ?? id
  const lines = Object.entries(byTracker).map(([id, own = []]) => ({ id, own, ...sum(own) }))
  const all = sum(subjects)
  return (
    <table class="going">
      <caption class="visually-hidden">What will be deleted</caption>
      <thead>
        <tr>
          <th scope="col">Tracker</th>
          <th scope="col">Data subjects</th>
          <th scope="col">Sessions</th>
          <th scope="col">Events</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ id, own, sessions, events }) => (
          <tr key={id}>
            <th scope="row">{nameOf(id)}</th>
            <td>{formatNumber(own.length)}</td>
            <td>{formatNumber(sessions)}</td>
            <td>{formatNumber(events)}</td>
          </tr>
        ))}
      </tbody>
      {lines.length > 1 && (
        <tfoot>
          <tr>
            <th scope="row">{counted(lines.length, 'tracker')}</th>
            <td>{formatNumber(subjects.length)}</td>
            <td>{formatNumber(all.sessions)}</td>
            <td>{formatNumber(all.events)}</td>
          </tr>
        </tfoot>
      )}
    </table>
  )
}

function sum(subjects: readonly Erasable[]): { sessions: number; events: number } {
  return subjects.reduce(
    ({ sessions, events }, { counts }) => ({
      sessions: sessions + counts.sessions,
      events: events + counts.events,
    }),
    { sessions: 0, events: 0 },
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
