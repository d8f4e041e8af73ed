import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { dayMs, toBars } from '../components/days.ts'
import { Dialog } from '../components/dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { LoadError, Skeleton } from '../components/states.tsx'
import { Id } from '../components/values.tsx'
import { VirtualList } from '../components/virtual-list.tsx'
import { counted, formatDay, formatDuration, Time, When } from '../components/when.tsx'
import { usePages } from '../resource.ts'
import { Link } from '../router.tsx'
import { subjectAddress } from '../search.ts'
import type { Event, Session, SubjectDays, SubjectRef, TimelinePage } from '../types.ts'
import { Attributes } from './subject-facts.tsx'
import { dayOf, type TimelineRow, TimelineRows } from './timeline-rows.ts'

const pageSize = 200

interface TimelineProps {
  records: readonly SubjectRef[]
  /** The newest day to show; an empty text for no limit. */
  day: string
  /** The name of a tracker, if the records are on several. */
  nameOf?: (trackerId: string) => string
}

/** The sessions and events of records, newest first, loaded while scrolling. */
export function Timeline({ records, day, nameOf }: TimelineProps) {
  const until = day === '' ? {} : { until: new Date(Date.parse(day) + dayMs).toISOString() }
  const asked = { records, limit: pageSize, ...until }
  const pages = usePages<TimelinePage>(`timeline ${JSON.stringify(asked)}`, (cursor, signal) =>
    ask('/person/timeline', cursor === null ? asked : { ...asked, cursor }, signal),
  )
  const [shown, show] = useState<Event | null>(null)
  const isNarrow = useMedia('(max-width: 860px)')
  const [story] = useState(() => new TimelineRows())
  const { rows } = story
  story.grow(pages.pages)
  const heightOf = useMemo(() => {
    const heights = isNarrow ? { day: 46, session: 72, event: 62 } : { day: 46, session: 60, event: 38 }
    return ({ kind }: TimelineRow) => heights[kind]
  }, [isNarrow])
  if (pages.pages.length === 0)
    return pages.error ? <LoadError error={pages.error} onRetry={pages.reload} /> : <Skeleton lines={8} />
  return (
    <>
      <VirtualList
        label="Sessions and events"
        {...{ rows, heightOf, keyOf }}
        onNearEnd={() => pages.hasMore && pages.loadMore()}
      >
        {(row) => {
          if (row.kind === 'day') return <DayLine at={row.at} />
          if (row.kind === 'event') return <EventLine event={row.event} onShow={show} />
          const record = nameOf && records[row.record]
          return (
            <SessionLine {...row} session={story.session(row.record, row.sessionId)}>
              {record && <Link to={subjectAddress(record)}>{nameOf(record.trackerId)}</Link>}
            </SessionLine>
          )
        }}
      </VirtualList>
      <p class="timeline-end" role="status">
        {pages.hasMore ? 'Loading earlier events…' : 'No earlier events.'}
      </p>
      {pages.error && <LoadError error={pages.error} onRetry={pages.reload} />}
      {shown && <EventDialog event={shown} onClose={() => show(null)} />}
    </>
  )
}

function keyOf(row: TimelineRow, index: number): string {
  if (row.kind === 'day') return row.at
  return row.kind === 'session'
    ? `${row.record} ${row.sessionId} ${row.isContinued ? index : ''}`
    : `${row.event.occurredAt} ${row.event.eventId} ${index}`
}

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })

function DayLine({ at }: { at: string }) {
  return <p class="day-line">{days.format(new Date(at))}</p>
}

interface SessionLineProps {
  session: Session | null
  /** Of its row, which is under the day of this instant. */
  at: string
  sessionId: string
  isContinued: boolean
  /** The record, if there are several. */
  children: ComponentChildren
}

function SessionLine({ session, at, sessionId, isContinued, children }: SessionLineProps) {
  const facts = Object.values(session?.attributes ?? {}).filter((value) => typeof value === 'string')
  return (
    <div class="session-line" title={`Session ${sessionId}`}>
      <p>
        <strong>
          {session ? (
            <When at={session.startedAt} as={dayOf(session.startedAt) === dayOf(at) ? 'time' : 'full'} />
          ) : (
            'Session'
          )}
        </strong>
        {isContinued && <span class="muted"> continued</span>}
        {session && (
          <span class="muted">
            {formatDuration(session.startedAt, session.endedAt)} · {counted(session.counts.events, 'event')}
          </span>
        )}
        {children}
      </p>
      <p class="muted clipped">
        {facts.length > 0 ? <bdi>{facts.join(' · ')}</bdi> : <code>{sessionId}</code>}
      </p>
    </div>
  )
}

function EventLine({ event, onShow }: { event: Event; onShow(event: Event): void }) {
  const { name, occurredAt, properties } = event
  return (
    <button type="button" class="event-line" onClick={() => onShow(event)}>
      <Time at={occurredAt} />
      <span class="event-name clipped">
        <Id text={name} />
      </span>
      <span class="event-facts clipped">
        {Object.entries(properties).map(([key, value]) => (
          <bdi key={key}>
            <span class="muted">{key}</span> {typeof value === 'string' ? value : JSON.stringify(value)}
          </bdi>
        ))}
      </span>
      <Icon name="next" />
    </button>
  )
}

function EventDialog({ event, onClose }: { event: Event; onClose(): void }) {
  const { name, occurredAt, properties, eventId, sessionId } = event
  return (
    <Dialog title={name} onClose={onClose}>
      <div class="prose">
        <p>
          <When at={occurredAt} as="exact" />{' '}
          <span class="muted">
            {formatDay(occurredAt.slice(0, 10))}, {occurredAt.slice(11, 23)} UTC
          </span>
        </p>
        <Attributes of={{ ...properties }} none="This event has no properties." />
        <Attributes of={{ 'Event ID': eventId, 'Session ID': sessionId }} none="" />
      </div>
    </Dialog>
  )
}

const [width, height] = [600, 44]

interface DayStripProps {
  days: SubjectDays
  today: string
  retentionDays: number
  /** The newest day in the timeline. */
  chosen: string
  onChoose(day: string): void
}

/** The days with sessions as bars. Choosing one moves the timeline there. */
export function DayStrip({ days: { days, hasMore }, today, retentionDays, chosen, onChoose }: DayStripProps) {
  const bars = toBars({ today, days }, retentionDays)
  const highest = Math.max(1, ...bars.map(({ events, sessions }) => events + sessions))
  const step = width / bars.length
  const [first, last] = [days[0]?.day ?? today, days.at(-1)?.day ?? today]
  return (
    <figure class="strip">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Active on ${counted(days.length, 'day')} from ${formatDay(first)} to ${formatDay(last)}`}
      >
        {bars.map(({ from, to, sessions, events }, i) => {
          // Square roots, so that a quiet day stays visible next to a busy one.
          const size = Math.max(3, Math.sqrt((sessions + events) / highest) * height)
          return sessions > 0 ? (
            // biome-ignore lint/a11y/noStaticElementInteractions: the field below serves the keyboard
            <rect
              key={from}
              class={chosen >= from && chosen <= to ? 'bar chosen' : 'bar'}
              x={i * step}
              width={Math.max(step * 0.8, 1.5)}
              y={height - size}
              height={size}
              onClick={() => onChoose(to)}
            >
              <title>{`${formatDay(from)}: ${counted(sessions, 'session')}, ${counted(events, 'event')}`}</title>
            </rect>
          ) : null
        })}
        <line x1="0" x2={width} y1={height} y2={height} />
      </svg>
      <figcaption>
        <span>{formatDay(bars[0]?.from ?? first)}</span>
        {hasMore && <span>newest 5,000 sessions</span>}
        <span>today</span>
      </figcaption>
      <DayField {...{ first, today, chosen, onChoose }} />
    </figure>
  )
}

interface DayFieldProps {
  first: string
  today: string
  chosen: string
  onChoose(day: string): void
}

/** Chooses the newest day in the timeline. */
export function DayField({ first, today, chosen, onChoose }: DayFieldProps) {
  return (
    <p class="jump">
      <label>
        Activity up to{' '}
        <input
          type="date"
          value={chosen}
          min={first}
          max={today}
          onChange={(event) => onChoose(event.currentTarget.value)}
        />
      </label>
      {chosen !== '' && (
        <button type="button" class="button quiet" onClick={() => onChoose('')}>
          Show newest
        </button>
      )}
    </p>
  )
}

/** Whether a media query matches; renders again when that changes. */
function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const update = () => setHolds(list.matches)
    update()
    list.addEventListener('change', update)
    return () => list.removeEventListener('change', update)
  }, [query])
  return holds
}
