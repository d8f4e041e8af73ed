import { Button } from '../components/button.tsx'
import { Id } from '../components/values.tsx'
import { counted, Days, formatNumber } from '../components/when.tsx'
import type { Person } from '../person.ts'
import { Link } from '../router.tsx'
import { subjectAddress } from '../search.ts'
import type { PersonRecords } from '../types.ts'

type NameOf = (trackerId: string) => string

/** What is stored about a person, a card for each ID on a tracker. */
export function RecordCards({ records, nameOf }: { records: PersonRecords['records']; nameOf: NameOf }) {
  return (
    <ul class="records">
      {records.map((record) => (
        <li key={subjectAddress(record)} class="card record">
          <p class="of-tracker muted">{nameOf(record.trackerId)}</p>
          <h3>
            <Link to={subjectAddress(record)}>
              <code class="wrap">
                <Id text={record.subjectId} />
              </code>
            </Link>
          </h3>
          <p>
            {counted(record.counts.sessions, 'session')} · {counted(record.counts.events, 'event')}
          </p>
          <p class="muted">
            Seen <Days first={record.firstSeenAt} last={record.lastSeenAt} />
          </p>
          {record.identifiers.length > 0 && (
            <ul class="chips">
              {record.identifiers.map(({ name, value }) => (
                <li key={`${name} ${value}`} title={name}>
                  <Id text={value} />
                </li>
              ))}
              {record.hasMoreIdentifiers && <li>and more</li>}
            </ul>
          )}
        </li>
      ))}
    </ul>
  )
}

const maxNamed = 3

interface RelatedProps {
  of: PersonRecords
  nameOf: NameOf
  onChange(person: Person): void
}

/** Records that may belong to the same person, with the choice to include them. */
export function Related({ of: { person, others }, nameOf, onChange }: RelatedProps) {
  const { identifiers, subjects } = person
  return (
    <section class="card related" aria-labelledby="related">
      <h2 id="related">These may be the same person</h2>
      <ul>
        {others.map(({ identifier, subjects: found, hidden, hasMore }) => (
          <li key={identifier ? `${identifier.name} ${identifier.value}` : ''}>
            <p>
              {formatNumber(found.length + hidden.length)}
              {hasMore && ' or more'} {found.length + hidden.length === 1 ? 'record' : 'records'} with{' '}
              {identifier ? (
                <>
                  the same {identifier.name} <Id text={identifier.value} />
                </>
              ) : (
                'the same ID on another tracker'
              )}
              {hidden.length > 0 && ` (${formatNumber(hidden.length)} hidden by your plan)`}
              {found.length > 0 && ': '}
              {found.slice(0, maxNamed).map((subject, i) => (
                <span key={subjectAddress(subject)}>
                  {i > 0 && ', '}
                  <Link to={subjectAddress(subject)}>
                    <Id text={subject.subjectId} />
                  </Link>{' '}
                  <span class="muted">({nameOf(subject.trackerId)})</span>
                </span>
              ))}
              {found.length > maxNamed && ` and ${formatNumber(found.length - maxNamed)} more`}
            </p>
            <Button
              label={`Include records with the same ${identifier ? identifier.name : 'ID'}`}
              onClick={() =>
                onChange(
                  identifier
                    ? { identifiers: [...identifiers, identifier], subjects }
                    : {
                        identifiers,
                        subjects: [
                          ...subjects,
                          ...[...found, ...hidden].map(({ trackerId, subjectId }) => ({
                            trackerId,
                            subjectId,
                          })),
                        ],
                      },
                )
              }
            >
              Include
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
