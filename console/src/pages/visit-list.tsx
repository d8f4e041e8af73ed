import { useState } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { Pager, usePaging } from '../parts/pager.tsx'
import { Loaded } from '../parts/states.tsx'
import { counted, lasting, When } from '../parts/when.tsx'
import { useResource } from '../resource.ts'
import type { Session, SessionList } from '../types.ts'
import { Attributes } from './attributes.tsx'
import { EventList } from './event-list.tsx'

const pageSize = 20

/** A subject's sessions, newest first; the newest of them open. */
export function VisitList({ api }: { api: string }) {
  const paging = usePaging()
  const cursor = paging.cursor === null ? '' : `&cursor=${encodeURIComponent(paging.cursor)}`
  const visits = useResource<SessionList>(`${api}/sessions?limit=${pageSize}${cursor}`)
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions" class="section-title">
        Sessions
      </h2>
      <Loaded resource={visits} lines={6}>
        {({ sessions, nextCursor }) => (
          <>
            <ol class="visits">
              {sessions.map((visit, i) => (
                <li key={visit.sessionId}>
                  <VisitEntry api={api} visit={visit} startsOpen={i === 0} />
                </li>
              ))}
            </ol>
            <Pager paging={paging} nextCursor={nextCursor} label="Pages of sessions" />
          </>
        )}
      </Loaded>
    </section>
  )
}

function VisitEntry({ api, visit, startsOpen }: { api: string; visit: Session; startsOpen: boolean }) {
  const [isOpen, setOpen] = useState(startsOpen)
  const { sessionId, startedAt, endedAt, counts, attributes } = visit
  return (
    <details class="visit" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="next" />
        <span class="strong">
          <When at={startedAt} />
        </span>
        <span class="muted">{lasting(startedAt, endedAt)}</span>
        <span class="muted">{counted(counts.events, 'event')}</span>
      </summary>
      {isOpen && (
        <div class="visit-body">
          <p class="muted">
            Session <code class="wrap">{sessionId}</code>
          </p>
          <Attributes of={attributes} none="Nothing was collected with this session." isShort />
          <EventList api={api} sessionId={sessionId} />
        </div>
      )}
    </details>
  )
}
