import { useState } from 'preact/hooks'
import { DueRing, useNow } from '../components/due-ring.tsx'
import { showFailure, showToast } from '../components/toasts.tsx'
import { Badge } from '../components/values.tsx'
import { formatNumber, When } from '../components/when.tsx'
import { deadlineOf, isAfterDay } from '../due.ts'
import {
  changeRequest,
  groupAddress,
  isClosed,
  requestAddress,
  requestKinds,
  requestTitle,
} from '../requests.ts'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import { useMay, useSession } from '../session.tsx'
import type { MemberList, Request, RequestPage } from '../types.ts'

/** When a request is due, who works on it, what it found, and earlier requests of the same person. */
export function RequestFacts({ page: { request, earlier } }: { page: RequestPage }) {
  const { found, reference, receivedAt, dueAt, extendedAt, closedAt, requestId } = request
  return (
    <aside class="facts-card" aria-label="Details">
      <Due request={request} />
      {!isClosed(request) && <Assignment request={request} />}
      <dl class="figures">
        {(['subjects', 'sessions', 'events'] as const).map((each) => (
          <div key={each}>
            <dt>{figureTitles[each]}</dt>
            <dd class="figure">{formatNumber(found[each])}</dd>
          </div>
        ))}
      </dl>
      <section aria-labelledby="dates">
        <h2 id="dates">Dates</h2>
        <dl class="facts">
          <div>
            <dt>Received</dt>
            <dd>
              <When at={receivedAt} as="day" />
            </dd>
          </div>
          <div>
            <dt>Due</dt>
            <dd>
              <When at={dueAt} as="day" />
              {extendedAt !== null && <span class="muted"> extended</span>}
            </dd>
          </div>
          {closedAt !== null && (
            <div>
              <dt>Closed</dt>
              <dd>
                <When at={closedAt} as="day" />
              </dd>
            </div>
          )}
          {reference !== null && (
            <div>
              <dt>Reference</dt>
              <dd>
                <Link to={groupAddress(reference)}>{reference}</Link>
              </dd>
            </div>
          )}
          <div>
            <dt>ID</dt>
            <dd>
              <code class="wrap">{requestId}</code>
            </dd>
          </div>
        </dl>
      </section>
      {earlier.length > 0 && (
        <section aria-labelledby="earlier">
          <h2 id="earlier">Other requests of this person</h2>
          <ul class="earlier">
            {earlier.map((each) => (
              <li key={each.requestId}>
                <Link to={requestAddress(each.requestId)}>{requestTitle(each)}</Link>
                <span>
                  <small class="muted">
                    {requestKinds[each.kind]}, <When at={each.receivedAt} as="day" />
                  </small>
                  <Badge state={each.state} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </aside>
  )
}

const figureTitles = { subjects: 'Records', sessions: 'Sessions', events: 'Events' } as const

/** The time limit, or whether it was kept. */
function Due({ request }: { request: Request }) {
  const { dueAt, closedAt } = request
  const now = useNow()
  const { words, urgency } = deadlineOf(request, now)
  const inTime = closedAt !== null && !isAfterDay(closedAt, dueAt)
  return (
    <div class="due">
      <DueRing request={request} now={now} />
      <p>
        {closedAt === null ? (
          <strong class={urgency}>{words}</strong>
        ) : (
          <strong>{inTime ? 'Closed in time' : 'Closed after it was due'}</strong>
        )}
        <small class="muted">
          due <When at={dueAt} as="day" />
        </small>
      </p>
    </div>
  )
}

/** Who works on the request. */
function Assignment({ request: { requestId, assignee } }: { request: Request }) {
  const { member } = useSession()
  const mayAssign = useMay('desk')
  const members = useResource<MemberList>('/members')
  const [isBusy, setBusy] = useState(false)
  const known = members.data?.members ?? []
  function assign(memberId: string | null): void {
    setBusy(true)
    changeRequest(requestId, 'assign', { memberId })
      .then(() => showToast(memberId === null ? 'Nobody is assigned' : 'Request assigned'), showFailure)
      .finally(() => setBusy(false))
  }
  return (
    <div class="assignment">
      <div class="field">
        <label for="assignee">Assigned to</label>
        <select
          id="assignee"
          value={assignee?.id ?? ''}
          disabled={isBusy || !mayAssign}
          onChange={(event) => assign(event.currentTarget.value || null)}
        >
          <option value="">Nobody</option>
          {assignee && !known.some(({ id }) => id === assignee.id) && (
            <option value={assignee.id}>{assignee.email}</option>
          )}
          {known.map(({ id, email }) => (
            <option key={id} value={id}>
              {id === member.id ? `${email} (you)` : email}
            </option>
          ))}
        </select>
      </div>
      {mayAssign && assignee === null && (
        <button type="button" class="link-button" disabled={isBusy} onClick={() => assign(member.id)}>
          Assign to me
        </button>
      )}
    </div>
  )
}
