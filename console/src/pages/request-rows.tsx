import { DueRing, useNow } from '../components/due-ring.tsx'
import { Badge } from '../components/values.tsx'
import { counted, formatNumber, When } from '../components/when.tsx'
import { deadlineOf, isAfterDay, type Urgency } from '../due.ts'
import { groupAddress, isClosed, requestAddress, requestKinds, requestTitle } from '../requests.ts'
import { Link } from '../router.tsx'
import { useSession } from '../session.tsx'
import type { Request, RequestRow as Row } from '../types.ts'

type Group = Urgency | 'closed'

const groups: readonly (readonly [Group, string])[] = [
  ['overdue', 'Overdue'],
  ['soon', 'Due within 7 days'],
  ['later', 'Due later'],
  ['closed', 'Closed'],
]

/** Requests, grouped by how urgent they are. The arrow keys go from one to the next. */
export function RequestRows({ rows }: { rows: readonly Row[] }) {
  const now = useNow()
  const byGroup = Object.groupBy(
    rows,
    ({ request }): Group => (isClosed(request) ? 'closed' : deadlineOf(request, now).urgency),
  )
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the links inside receive the focus
    <div class="inbox" onKeyDown={moveFocus}>
      {groups.map(([group, title]) => {
        const own = byGroup[group] ?? []
        if (own.length === 0) return null
        return (
          <section key={group} aria-labelledby={`due-${group}`}>
            <h2 id={`due-${group}`} class={group === 'closed' ? 'visually-hidden' : undefined}>
              {title}
            </h2>
            <ol>
              {own.map((row) => (
                <li key={row.request.requestId}>
                  <RequestRow row={row} now={now} />
                </li>
              ))}
            </ol>
          </section>
        )
      })}
    </div>
  )
}

/** From row to row, also across groups. */
function moveFocus(event: KeyboardEvent): void {
  const { currentTarget, key } = event
  if (!(currentTarget instanceof HTMLElement)) return
  const rows = [...currentTarget.querySelectorAll('a')]
  const at = rows.findIndex((row) => row.matches(':focus'))
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[key]
  if (at < 0 || next === undefined) return
  event.preventDefault()
  rows[Math.max(0, next)]?.focus()
}

/** A request, or the first of several with the same reference, which leads to all of them. */
function RequestRow({ row: { request, size }, now }: { row: Row; now: number }) {
  const { requestId, kind, state, reference, receivedAt } = request
  const isGroup = size > 1 && reference !== null
  const isOverdue = !isClosed(request) && deadlineOf(request, now).urgency === 'overdue'
  return (
    <Link
      to={isGroup ? groupAddress(reference) : requestAddress(requestId)}
      class={isOverdue ? 'request-row overdue' : 'request-row'}
    >
      <DueRing request={request} now={now} />
      <span class="request-what">
        <strong>{requestTitle(request)}</strong>
        <small>
          {requestKinds[kind]}
          {isGroup && `, ${counted(size, 'request')}`}
          <span class="request-received">
            {' '}
            · received <When at={receivedAt} as="day" />
          </span>
        </small>
      </span>
      <span class="request-state">
        <Badge state={state} />
      </span>
      <span class="request-found">{isGroup ? '' : foundInWords(request)}</span>
      {isGroup ? <span class="request-assignee" /> : <Assignee request={request} />}
      <DueWords request={request} now={now} />
    </Link>
  )
}

function foundInWords({ kind, state, found, erased }: Request): string {
  if (kind === 'erasure' && state === 'running')
    return `${formatNumber(erased.subjects)} of ${counted(found.subjects, 'record')} erased`
  if (found.subjects === 0) return 'nothing held'
  if (kind === 'erasure' && state === 'done') return `${counted(erased.subjects, 'record')} erased`
  return counted(found.subjects, 'record')
}

function Assignee({ request }: { request: Request }) {
  const { member } = useSession()
  const { assignee } = request
  if (!assignee) return <span class="request-assignee muted">{isClosed(request) ? '' : 'unassigned'}</span>
  return (
    <span class="request-assignee">
      <span class="avatar" aria-hidden="true">
        {assignee.email.charAt(0).toUpperCase()}
      </span>
      <span class="clipped">{assignee.id === member.id ? 'you' : assignee.email}</span>
    </span>
  )
}

function DueWords({ request, now }: { request: Request; now: number }) {
  const { state, dueAt, closedAt } = request
  if (closedAt !== null) {
    const isLate = isAfterDay(closedAt, dueAt)
    return (
      <span class="request-due">
        {state === 'done' && (
          <strong class={isLate ? 'overdue' : undefined}>{isLate ? 'late' : 'in time'}</strong>
        )}
        <small>
          closed <When at={closedAt} as="day" />
        </small>
      </span>
    )
  }
  const { words, urgency } = deadlineOf(request, now)
  return (
    <span class="request-due">
      <strong class={urgency}>{words}</strong>
      <small>
        <When at={dueAt} as="day" />
      </small>
    </span>
  )
}
