import { useEffect, useState } from 'preact/hooks'
import { ApiError, change } from '../api.ts'
import { Confirm } from '../components/dialog.tsx'
import { Failure } from '../components/field.tsx'
import { Skeleton } from '../components/states.tsx'
import { Id } from '../components/values.tsx'
import { counted, formatNumber, When } from '../components/when.tsx'
import { erasePerson } from '../erasure.ts'
import { invalid } from '../form.ts'
import type { Person } from '../person.ts'
import { toFailure, useResource } from '../resource.ts'
import { subjectAddress } from '../search.ts'
import type { FoundSubject, PersonPlan, TrackerList } from '../types.ts'

interface EraseDialogProps {
  person: Person
  /** The text to type, and its name. */
  typing: { what: string; text: string }
  onClose(): void
}

/** Shows what will be erased on which trackers, and what else may belong to the same person. */
export function EraseDialog({ person: given, typing, onClose }: EraseDialogProps) {
  const [asked] = useState(given)
  const [person, setPerson] = useState(asked)
  const { plan, failure, isCurrent } = usePlan(person)
  const [others, setOthers] = useState<PersonPlan['others'] | null>(null)
  const subjects = plan ? [...plan.subjects, ...plan.hidden] : []
  // Kept from the first plan: once they are included, the plan no longer lists them.
  if (plan && others === null) setOthers(plan.others)
  return (
    <Confirm
      title={subjects.length > 1 ? `Erase ${subjects.length} data subjects` : 'Erase this data subject'}
      action="Erase for good"
      kind="danger"
      typing={{ ...typing, field: 'subjects' }}
      isDisabled={subjects.length === 0 || !isCurrent}
      onConfirm={() => erasePerson(person, subjects).catch(tellBelow)}
      onClose={onClose}
    >
      <Failure failure={failure} />
      {plan ? <DeletionTable subjects={plan.subjects} /> : !failure && <Skeleton lines={3} />}
      {plan && subjects.length === 0 && <p>No data about this person is stored any more.</p>}
      {plan && plan.hidden.length > 0 && (
        <p>{counted(plan.hidden.length, 'data subject')} that your plan hides will be erased too.</p>
      )}
      {others && others.subjects.length > 0 && (
        <Others
          others={others}
          isChosen={person !== asked}
          onChoose={(isChosen) =>
            setPerson(
              isChosen ? { ...asked, identifiers: [...asked.identifiers, ...others.identifiers] } : asked,
            )
          }
        />
      )}
      <p>
        This cannot be undone. Daily totals are kept; they cannot be traced to a person. The erasure runs in
        the background, so you can close this page. You get one certificate with{' '}
        {subjects.length > 1 ? 'a receipt for each data subject' : 'a receipt'}.
      </p>
      {plan && <Budget budget={plan.budget} subjects={subjects.length} />}
    </Confirm>
  )
}

/** Shows a problem with the person below the typed text. */
function tellBelow(error: unknown): never {
  const problem = error instanceof ApiError ? error.fields.person : undefined
  throw problem === undefined ? error : invalid('subjects', problem)
}

interface Planned {
  person: Person | null
  plan: PersonPlan | null
  failure: ApiError | null
}

/** A preview of the erasure. Not cached, because it identifies the person. */
function usePlan(person: Person): Planned & { isCurrent: boolean } {
  const [planned, setPlanned] = useState<Planned>({ person: null, plan: null, failure: null })
  useEffect(() => {
    let isWanted = true
    change<PersonPlan>('/people/preview', { person }).then(
      (plan) => isWanted && setPlanned({ person, plan, failure: null }),
      (error: unknown) => isWanted && setPlanned({ person, plan: null, failure: toFailure(error) }),
    )
    return () => {
      isWanted = false
    }
  }, [person])
  return { ...planned, isCurrent: planned.person === person }
}

/** Data subjects that share an identifier, with the choice to erase them too. */
function Others({
  others: { subjects, identifiers },
  isChosen,
  onChoose,
}: {
  others: PersonPlan['others']
  isChosen: boolean
  onChoose(isChosen: boolean): void
}) {
  const names = [...new Set(identifiers.map(({ name }) => name))].join(', ')
  return (
    <div class="others">
      <p>
        <strong>{counted(subjects.length, 'other data subject')}</strong>{' '}
        {subjects.length === 1 ? 'has' : 'have'} the same {names}:
      </p>
      <ul>
        {subjects.slice(0, maxNamed).map((subject) => (
          <li key={subjectAddress(subject)}>
            <a href={subjectAddress(subject)} target="_blank" rel="noreferrer">
              <Id text={subject.subjectId} />
            </a>{' '}
            <span class="muted">
              {subject.trackerId} · {counted(subject.counts.events, 'event')}
            </span>
          </li>
        ))}
        {subjects.length > maxNamed && (
          <li class="muted">and {counted(subjects.length - maxNamed, 'other')}</li>
        )}
      </ul>
      <label class="check">
        <input
          type="checkbox"
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
        <span>Erase {subjects.length === 1 ? 'it' : 'them'} too</span>
      </label>
    </div>
  )
}

const maxNamed = 5

/** The member's erasure budget, and what happens if it is too small. */
function Budget({
  budget: { limit, remaining, resetsAt },
  subjects,
}: {
  budget: PersonPlan['budget']
  subjects: number
}) {
  if (remaining === limit && subjects <= limit) return null
  if (subjects <= remaining)
    return (
      <p class="muted">
        You can erase {counted(remaining, 'more data subject')} until <When at={resetsAt} />.
      </p>
    )
  return (
    <p>
      {remaining === 0
        ? 'Your erasure budget is used up. '
        : `Your erasure budget covers ${formatNumber(remaining)} of these now. `}
      The service erases the rest automatically
      {remaining < limit ? (
        <>
          {' '}
          after <When at={resetsAt} />.
        </>
      ) : (
        ', as the budget allows.'
      )}
    </p>
  )
}

/** What will be deleted, by tracker. */
function DeletionTable({ subjects }: { subjects: readonly FoundSubject[] }) {
  const trackers = useResource<TrackerList>('/trackers')
  const byTracker = Object.groupBy(subjects, ({ trackerId }) => trackerId)
  const nameOf = (id: string) => trackers.data?.trackers.find((tracker) => tracker.id === id)?.name ?? id
  const lines = Object.entries(byTracker).map(([id, own = []]) => ({ id, own, ...sum(own) }))
  const all = sum(subjects)
  if (lines.length === 0) return null
  return (
    <table class="deletions">
      <caption class="visually-hidden">Data to be deleted</caption>
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

function sum(subjects: readonly FoundSubject[]): { sessions: number; events: number } {
  return subjects.reduce(
    ({ sessions, events }, { counts }) => ({
      sessions: sessions + counts.sessions,
      events: events + counts.events,
    }),
    { sessions: 0, events: 0 },
  )
}
