import { Icon } from '../components/icon.tsx'
import { Badge, Figures, Id } from '../components/values.tsx'
import { Ago, When } from '../components/when.tsx'
import type { Person } from '../person.ts'
import { requestAddress, requestKinds, requestTitle } from '../requests.ts'
import { Link } from '../router.tsx'
import type { PersonRecords } from '../types.ts'

interface PersonFactsProps {
  person: PersonRecords
  /** Opens the page of a person with other identifiers or records. */
  onChange(person: Person): void
}

/** Who the person is, and what all records have together. */
export function PersonFacts({ person: { person, records, requests }, onChange }: PersonFactsProps) {
  const { identifiers, subjects } = person
  const isAlone = identifiers.length + subjects.length === 1
  const sessions = records.reduce((sum, { counts }) => sum + counts.sessions, 0)
  const events = records.reduce((sum, { counts }) => sum + counts.events, 0)
  const seen = records.flatMap(({ firstSeenAt, lastSeenAt }) => [firstSeenAt, lastSeenAt]).sort()
  const repeated = namesWithSeveralValues(identifiers)
  return (
    <aside class="facts-card" aria-label="Details">
      <Figures
        of={[
          ['Sessions', sessions],
          ['Events', events],
        ]}
      />
      <section aria-labelledby="who">
        <h2 id="who">This person is</h2>
        <ul class="identifiers parts">
          {identifiers.map(({ name, value }) => (
            <li key={`${name} ${value}`}>
              <span class="muted">{name}</span> <Id text={value} />
              {!isAlone && (
                <LeaveOut
                  what={`${name} ${value}`}
                  onClick={() =>
                    onChange({
                      identifiers: identifiers.filter((each) => each.name !== name || each.value !== value),
                      subjects,
                    })
                  }
                />
              )}
            </li>
          ))}
          {subjects.map(({ trackerId, subjectId }) => (
            <li key={`${trackerId} ${subjectId}`}>
              <span class="muted">{trackerId}</span> <Id text={subjectId} />
              {!isAlone && (
                <LeaveOut
                  what={`${subjectId} on ${trackerId}`}
                  onClick={() =>
                    onChange({
                      identifiers,
                      subjects: subjects.filter(
                        (each) => each.trackerId !== trackerId || each.subjectId !== subjectId,
                      ),
                    })
                  }
                />
              )}
            </li>
          ))}
        </ul>
        {repeated.length > 0 && (
          <p class="note">
            There are several values of {repeated.join(' and ')}. Make sure that they belong to the same
            person.
          </p>
        )}
      </section>
      {seen.length > 0 && (
        <section aria-labelledby="seen">
          <h2 id="seen">Seen</h2>
          <dl class="facts">
            <div>
              <dt>First</dt>
              <dd>
                <When at={seen[0] ?? null} />
              </dd>
            </div>
            <div>
              <dt>Last</dt>
              <dd>
                <Ago at={seen.at(-1) ?? null} />
              </dd>
            </div>
          </dl>
        </section>
      )}
      <section aria-labelledby="requests">
        <h2 id="requests">Requests</h2>
        {requests.length === 0 ? (
          <p class="muted">None.</p>
        ) : (
          <ul class="person-requests">
            {requests.map((request) => (
              <li key={request.requestId}>
                <Link to={requestAddress(request.requestId)}>{requestTitle(request)}</Link>{' '}
                <Badge state={request.state} />
                <span class="muted">
                  {requestKinds[request.kind]}, received <When at={request.receivedAt} as="day" />
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
    </aside>
  )
}

function LeaveOut({ what, onClick }: { what: string; onClick(): void }) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Leave out ${what}`}
      title="Leave out"
      onClick={onClick}
    >
      <Icon name="close" />
    </button>
  )
}

function namesWithSeveralValues(identifiers: readonly { name: string }[]): string[] {
  const names = identifiers.map(({ name }) => name)
  return [...new Set(names.filter((name, i) => names.indexOf(name) !== i))]
}
