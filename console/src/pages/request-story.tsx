import type { ComponentChildren } from 'preact'
import { useNow } from '../components/due-ring.tsx'
import { Icon, type IconName } from '../components/icon.tsx'
import { ActorName, Id } from '../components/values.tsx'
import { Ago, counted, When } from '../components/when.tsx'
import { deadlineOf } from '../due.ts'
import { isClosed } from '../requests.ts'
import { useResource } from '../resource.ts'
import { For } from '../session.tsx'
import type { Request, RequestPage, StoryEntry, TrackerList } from '../types.ts'
import { ErasureProgress } from './request-erasure.tsx'
import { AddNote, NoteCard } from './request-notes.tsx'
import { RequestRecords } from './request-records.tsx'

/** What happened to a request, in order. */
export function RequestStory({ page }: { page: RequestPage }) {
  const { request, notes, story, hasMoreStory } = page
  const entries = [
    ...story.filter(({ kind }) => kind !== 'request.created' && !isNote(kind)).map(toStoryItem(page)),
    ...notes.map((note) => ({
      at: note.at,
      item: <NoteCard key={note.id} requestId={request.requestId} note={note} isFinal={isClosed(request)} />,
    })),
  ].toSorted((one, other) => (one.at < other.at ? -1 : 1))
  return (
    <section aria-labelledby="story">
      <h2 id="story" class="visually-hidden">
        Story
      </h2>
      <ol class="moments">
        <Received request={request} />
        <Found page={page} />
        {hasMoreStory && <StoryItem icon="more">Earlier entries are in the activity.</StoryItem>}
        {entries.map(({ item }) => item)}
        {request.state === 'running' && (
          <StoryItem icon="trash" title="Erasing" tone="active">
            <ErasureProgress request={request} />
          </StoryItem>
        )}
        {!isClosed(request) && <Pending request={request} />}
      </ol>
      {!isClosed(request) && (
        <For least="desk">
          <AddNote requestId={request.requestId} />
        </For>
      )}
    </section>
  )
}

/** Notes are shown themselves. */
function isNote(kind: string): boolean {
  return kind === 'request.note-added'
}

interface StoryItemProps {
  icon: IconName
  title?: ComponentChildren
  /** Who and when. */
  by?: StoryEntry['by']
  at?: string
  tone?: 'active' | 'good' | 'bad' | 'pending'
  children?: ComponentChildren
}

function StoryItem({ icon, title, by, at, tone, children }: StoryItemProps) {
  return (
    <li class={tone ? `moment ${tone}` : 'moment'}>
      <span class="moment-icon">
        <Icon name={icon} />
      </span>
      <div>
        {title && (
          <p class="moment-head">
            <strong>{title}</strong>
            {by && <ActorName actor={by} />}
            {at && <Ago at={at} />}
          </p>
        )}
        {children}
      </div>
    </li>
  )
}

function Received({ request }: { request: Request }) {
  const { kind, receivedAt, createdAt, createdBy, person } = request
  return (
    <StoryItem icon="requests" title="Received" by={createdBy} at={createdAt}>
      <p>
        {kind === 'access'
          ? 'A person asked for a copy of their data'
          : 'A person asked for their data to be erased'}{' '}
        on <When at={receivedAt} as="day" />.
      </p>
      {person ? (
        <PersonList person={person} />
      ) : (
        <p class="muted">The request is closed, so the person’s identifiers have been deleted from it.</p>
      )}
    </StoryItem>
  )
}

/** What identifies the person. */
function PersonList({ person: { identifiers, subjects } }: { person: NonNullable<Request['person']> }) {
  const trackers = useResource<TrackerList>(subjects.length > 0 ? '/trackers' : null)
  const nameOf = (id: string) => trackers.data?.trackers.find((tracker) => tracker.id === id)?.name ?? id
  return (
    <ul class="person-names">
      {identifiers.map(({ name, value }) => (
        <li key={`${name} ${value}`}>
          <span class="muted">{name}</span> <Id text={value} />
        </li>
      ))}
      {subjects.map(({ trackerId, subjectId }) => (
        <li key={`${trackerId} ${subjectId}`}>
          <span class="muted">{nameOf(trackerId)}</span>{' '}
          <code class="wrap">
            <Id text={subjectId} />
          </code>
        </li>
      ))}
    </ul>
  )
}

/** Who was found: a person with the records about them. */
function Found({ page: { request, exclusions } }: { page: RequestPage }) {
  const { found, state } = request
  const isNobody = found.subjects === 0
  const hasExclusions = exclusions.length > 0
  const nothing = hasExclusions
    ? 'No other records were found in any tracker'
    : 'Nothing is held about this person in any tracker'
  const figures = `${counted(found.sessions, 'session')}, ${counted(found.events, 'event')}`
  return (
    <StoryItem
      icon={isNobody ? 'search' : 'person'}
      title={
        isNobody
          ? hasExclusions
            ? 'Nothing else found'
            : 'Nobody found'
          : `One person with ${counted(found.subjects, 'record')}`
      }
    >
      <p>
        {isNobody ? nothing : figures}
        {state === 'open' && <span class="muted"> · as of now</span>}
      </p>
      {state === 'open' && <RequestRecords request={request} />}
    </StoryItem>
  )
}

/** What is still to do. */
function Pending({ request }: { request: Request }) {
  const { words } = deadlineOf(request, useNow())
  return (
    <StoryItem icon="clock" tone="pending" title="Answer">
      <p class="muted">
        by <When at={request.dueAt} as="day" />, {words}
      </p>
    </StoryItem>
  )
}

const titles: Record<string, readonly [IconName, string, StoryItemProps['tone']?]> = {
  'request.extended': ['clock', 'Extended'],
  'request.rejected': ['close', 'Rejected', 'bad'],
  'request.cancelled': ['close', 'Cancelled'],
  'request.closed': ['check', 'Answered', 'good'],
  'request.approval-asked': ['clock', 'Erasure waits for approval', 'pending'],
  'request.approved': ['check', 'Erasure approved', 'good'],
  'request.declined': ['close', 'Erasure declined', 'bad'],
  'request.started': ['trash', 'Erasure started'],
  'request.finished': ['erasures', 'Erased', 'good'],
  'request.exported': ['download', 'Export started'],
  'request.assigned': ['person', 'Assignee changed'],
  'request.note-deleted': ['note', 'Note deleted'],
  'request.record-excluded': ['close', 'Record excluded'],
  'request.record-included': ['check', 'Record included'],
}

const withdrawn: (typeof titles)[string] = ['close', 'Erasure withdrawn']

/** Whether the member who asked for the approval declined it. */
function isWithdrawal({ id, kind, by }: StoryEntry, { story }: RequestPage): boolean {
  if (kind !== 'request.declined' || by.kind !== 'member') return false
  const before = story.slice(
    0,
    story.findIndex((entry) => entry.id === id),
  )
  const asked = before.findLast((entry) => entry.kind === 'request.approval-asked')
  return asked?.by.kind === 'member' && asked.by.id === by.id
}

function toStoryItem(page: RequestPage) {
  return (entry: StoryEntry) => {
    const { id, at, by, kind } = entry
    const [icon, title, tone] = (isWithdrawal(entry, page) ? withdrawn : titles[kind]) ?? ['activity', kind]
    return {
      at,
      item: (
        <StoryItem key={id} icon={icon} title={title} by={by} at={at} {...(tone && { tone })}>
          <Detail page={page} kind={kind} at={at} />
        </StoryItem>
      ),
    }
  }
}

/** What an entry of the story does not say itself. */
function Detail({
  page: { request, exclusions },
  kind,
  at,
}: { page: RequestPage } & Pick<StoryEntry, 'kind' | 'at'>) {
  const { reason, state, dueAt, left } = request
  if (kind === 'request.extended') {
    return (
      <>
        <p>
          Due on <When at={dueAt} as="day" />.
        </p>
        {reason !== null && state !== 'rejected' && <p class="quote">{reason}</p>}
      </>
    )
  }
  // It is recorded before the first byte is sent, so that nothing leaves the service without an entry.
  if (kind === 'request.exported' && state === 'open')
    return <p class="muted">Make sure that the download is complete before you send the file.</p>
  if (kind === 'request.rejected' && reason !== null) return <p class="quote">{reason}</p>
  if (kind === 'request.record-excluded') {
    const exclusion = exclusions.find((each) => each.at === at)
    return exclusion ? <p class="quote">{exclusion.reason}</p> : null
  }
  if (kind === 'request.finished') {
    return (
      <>
        <p>{erasedInWords(request, exclusions.length > 0)}</p>
        {left !== null && left > 0 && (
          <p>
            {counted(left, 'record')} arrived after the last search, and {left === 1 ? 'is' : 'are'} kept.
          </p>
        )}
      </>
    )
  }
  return null
}

function erasedInWords({ found, erased }: Request, hasExclusions: boolean): string {
  const { subjects, sessions, events } = erased
  if (subjects > 0)
    return `${counted(subjects, 'record')} with ${counted(sessions, 'session')} and ${counted(events, 'event')}, in all trackers.`
  if (found.subjects > 0) return 'What was found had been deleted before, for example with its tracker.'
  return hasExclusions ? 'No other records were found.' : 'Nothing was held about this person.'
}
