import { useState } from 'preact/hooks'
import { ApiError, encode, read } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/field.tsx'
import { Loaded } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import { unexpected, useResource } from '../resource.ts'
import type { EventList as EventPage } from '../types.ts'

const pageSize = 50

/** A session's events in the order of time. The server hands out the latest first; earlier ones are put before them on demand. */
export function EventList({ api, sessionId }: { api: string; sessionId: string }) {
  const path = `${api}/events?limit=${pageSize}&sessionId=${encode(sessionId)}`
  const latest = useResource<EventPage>(path)
  const [earlier, setEarlier] = useState<EventPage | null>(null)
  const [failure, setFailure] = useState<ApiError | null>(null)
  const cursor = (earlier ?? latest.data)?.nextCursor ?? null
  async function loadEarlier(): Promise<void> {
    if (cursor === null) return
    try {
      setFailure(null)
      const page = await read<EventPage>(`${path}&cursor=${encode(cursor)}`)
      setEarlier((before) => ({
        events: [...(before?.events ?? []), ...page.events],
        nextCursor: page.nextCursor,
      }))
    } catch (error) {
      setFailure(error instanceof ApiError ? error : unexpected(error))
    }
  }
  return (
    <Loaded resource={latest} lines={4}>
      {({ events }) => (
        <>
          {cursor !== null && <Button onClick={loadEarlier}>Show earlier events</Button>}
          <Failure failure={failure} />
          {events.length === 0 ? (
            <p class="muted">No events in this session.</p>
          ) : (
            <ol class="events">
              {[...events, ...(earlier?.events ?? [])].reverse().map((event) => (
                <EventEntry key={event.occurredAt + event.eventId} event={event} />
              ))}
            </ol>
          )}
        </>
      )}
    </Loaded>
  )
}

function EventEntry({ event: { name, occurredAt, properties } }: { event: EventPage['events'][number] }) {
  const facts = Object.entries(properties)
  return (
    <li>
      <span class="event-time">
        <When at={occurredAt} as="exact" />
      </span>
      <span class="event-name">{name}</span>
      <span class="event-facts">
        {facts.map(([key, value]) => (
          <span key={key}>
            <span class="muted">{key}</span> {typeof value === 'string' ? value : JSON.stringify(value)}
          </span>
        ))}
      </span>
    </li>
  )
}
