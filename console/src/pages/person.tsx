import { useMemo, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Page } from '../components/page.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { showFailure } from '../components/toasts.tsx'
import { Id } from '../components/values.tsx'
import { counted } from '../components/when.tsx'
import { openPerson, type Person, personKey } from '../person.ts'
import { type RequestDraft, setRequestDraft } from '../request-draft.ts'
import { useFetched, useResource } from '../resource.ts'
import { useAddress } from '../router.tsx'
import { dayParam, textParam, useSearchParams } from '../search-params.ts'
import { For } from '../session.tsx'
import type { PersonRecords, TrackerList } from '../types.ts'
import { NewRequest } from './new-request.tsx'
import { PersonFacts } from './person-facts.tsx'
import { RecordCards, Related } from './person-records.tsx'
import { DayField, Timeline } from './timeline.tsx'

/** The service merges no more into one timeline. */
const maxMerged = 50

/** A person: the records on all trackers, merged into one timeline. */
export function PersonPage() {
  const { fragment } = useAddress()
  return fragment === '' ? (
    <Page title="Person">
      <Empty icon="person" title="No person is chosen">
        <p>Search for an e-mail address, an identifier or an ID, and open the person from the results.</p>
      </Empty>
    </Page>
  ) : (
    <PersonAt key={fragment} address={fragment} />
  )
}

function PersonAt({ address }: { address: string }) {
  const [isAsking, setAsking] = useState(false)
  const found = useFetched(personKey(address), (_, signal) =>
    ask<PersonRecords>('/person', { address }, signal),
  )
  const trackers = useResource<TrackerList>('/trackers')
  /** Opens the form of a request for the person, whose page then opens. */
  function request(kind: RequestDraft['kind']): void {
    if (!found.data) return
    setRequestDraft({ kind, ...found.data.person })
    setAsking(true)
  }
  const actions = (
    <For least="desk">
      <Button icon="download" isDisabled={!found.data} onClick={() => request('access')}>
        Export all
      </Button>
      <Button kind="danger" icon="trash" isDisabled={!found.data} onClick={() => request('erasure')}>
        Erase all
      </Button>
    </For>
  )
  const nameOf = (id: string) => trackers.data?.trackers.find((tracker) => tracker.id === id)?.name ?? id
  return (
    <Page
      title="Person"
      heading={found.data ? <Id text={nameOfPerson(found.data)} /> : 'Person'}
      intro={<span role="status">{found.data ? summary(found.data) : ' '}</span>}
      {...{ actions }}
    >
      <Loaded resource={found} lines={8}>
        {(person) => <Story person={person} nameOf={nameOf} />}
      </Loaded>
      {isAsking && <NewRequest onClose={() => setAsking(false)} />}
    </Page>
  )
}

function Story({ person, nameOf }: { person: PersonRecords; nameOf(trackerId: string): string }) {
  const { records, hidden, others } = person
  const [isBusy, setBusy] = useState(false)
  async function change(changed: Person): Promise<void> {
    setBusy(true)
    await openPerson(changed).catch(showFailure)
    setBusy(false)
  }
  return (
    <div class="story" aria-busy={isBusy}>
      <PersonFacts person={person} onChange={change} />
      <div class="person-story">
        {others.length > 0 && <Related of={person} {...{ nameOf }} onChange={change} />}
        <section aria-labelledby="records">
          <h2 id="records" class="section-title">
            Records
          </h2>
          {records.length === 0 && (
            <Empty icon="person" title="Nothing is visible">
              <p>
                {hidden.length === 0
                  ? 'No data about this person is stored.'
                  : 'All data about this person is hidden by your plan.'}
              </p>
            </Empty>
          )}
          {hidden.length > 0 && (
            <p class="note">
              Your plan hides {counted(hidden.length, 'record')} of this person. Hidden data is still stored.
            </p>
          )}
          {person.hasMore && (
            <p class="note">This person has more records than this page shows. Requests cover all of them.</p>
          )}
          <RecordCards {...{ records, nameOf }} />
        </section>
        {records.length > 0 && <MergedTimeline {...{ records, nameOf }} />}
      </div>
    </div>
  )
}

function MergedTimeline({
  records,
  nameOf,
}: {
  records: PersonRecords['records']
  nameOf(trackerId: string): string
}) {
  const [{ tracker, day }, filter] = useSearchParams({ tracker: textParam, day: dayParam })
  const trackerIds = [...new Set(records.map(({ trackerId }) => trackerId))]
  const chosen = trackerIds.includes(tracker) ? tracker : ''
  const wanted = records.filter(({ trackerId }) => chosen === '' || trackerId === chosen)
  const first = wanted.reduce((least, { firstSeenAt }) => (firstSeenAt < least ? firstSeenAt : least), '9')
  const key = wanted.map(({ trackerId, subjectId }) => `${trackerId}\0${subjectId}`).join('\0')
  const merged = useMemo(
    () => wanted.slice(0, maxMerged).map(({ trackerId, subjectId }) => ({ trackerId, subjectId })),
    [key],
  )
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline" class="section-title">
        Timeline
      </h2>
      <div class="tools timeline-tools">
        {trackerIds.length > 1 && (
          <label class="field inline">
            <span>Tracker</span>
            <select value={chosen} onChange={(event) => filter({ tracker: event.currentTarget.value })}>
              <option value="">All trackers</option>
              {trackerIds.map((id) => (
                <option key={id} value={id}>
                  {nameOf(id)}
                </option>
              ))}
            </select>
          </label>
        )}
        <DayField
          first={first.slice(0, 10)}
          today={new Date().toISOString().slice(0, 10)}
          chosen={day}
          onChoose={(chosen) => filter({ day: chosen })}
        />
      </div>
      {wanted.length > maxMerged && (
        <p class="note">
          The timeline shows the {maxMerged} records seen last. To see others, choose a tracker or open a
          record.
        </p>
      )}
      <Timeline key={`${key} ${day}`} {...{ records: merged, day }} {...(records.length > 1 && { nameOf })} />
    </section>
  )
}

/** What a person is called: the first identifier, or the first ID. */
function nameOfPerson({ person: { identifiers, subjects } }: PersonRecords): string {
  const email = identifiers.find(({ name }) => name === 'email')
  return (email ?? identifiers[0])?.value ?? subjects[0]?.subjectId ?? 'Person'
}

function summary({ records, hidden, hasMore }: PersonRecords): string {
  const trackers = new Set(records.map(({ trackerId }) => trackerId)).size
  const more = hasMore ? ', and more' : ''
  const besides = hidden.length > 0 ? `, and ${counted(hidden.length, 'hidden record')}` : ''
  return `${counted(records.length, 'record')} on ${counted(trackers, 'tracker')}${more}${besides}`
}
