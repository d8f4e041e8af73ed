import { useEffect, useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Choice } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'
import { JobPace } from '../components/job-pace.tsx'
import { NotFoundPage, Page } from '../components/page.tsx'
import { Pager, usePaging } from '../components/pager.tsx'
import { Empty, LoadError, Loaded } from '../components/states.tsx'
import { showToast } from '../components/toasts.tsx'
import { Badge, Figures } from '../components/values.tsx'
import { counted, formatNumber, When } from '../components/when.tsx'
import { refreshErasures } from '../erasure.ts'
import { totalOf } from '../requests.ts'
import { refresh, useResource } from '../resource.ts'
import { choiceParam, textParam, useSearchParams } from '../search-params.ts'
import { useMay } from '../session.tsx'
import type { RequestGroup, RequestList } from '../types.ts'
import { ApprovalHint, Decide } from './request-approval.tsx'
import { RequestRows } from './request-rows.tsx'

const pollIntervalMs = 1_500

const states = {
  all: 'All',
  open: 'Not started',
  running: 'Running',
  done: 'Done',
  cancelled: 'Cancelled',
  rejected: 'Rejected',
} as const
type Shown = keyof typeof states

const filters = {
  reference: textParam,
  state: choiceParam<Shown>('all', 'open', 'running', 'done', 'cancelled', 'rejected'),
}

/** The requests with one reference, such as those of everyone on a list. */
export function RequestGroupPage() {
  const [{ reference, state }, changeFilters] = useSearchParams<{ reference: string; state: Shown }>(filters)
  const group = useResource<RequestGroup>(
    reference === '' ? null : `/request-groups?reference=${encode(reference)}`,
    { pollMs: (data) => (data !== undefined && data.counts.running > 0 ? pollIntervalMs : false) },
  )
  const mayChange = useMay('desk')
  const isRunning = (group.data?.counts.running ?? 0) > 0
  useEffect(() => {
    if (!isRunning) refreshErasures()
  }, [isRunning])
  if (reference === '') return <NotFoundPage />
  return (
    <Page
      title={reference}
      within="Requests"
      above={{ to: '/console/requests', title: 'Requests' }}
      intro="Requests with the same reference."
      actions={mayChange && group.data && <GroupActions group={group.data} />}
    >
      {group.error ? (
        <LoadError error={group.error} onRetry={group.reload} />
      ) : (
        <Loaded resource={group} lines={6}>
          {(data) => (
            <>
              <Progress group={data} />
              <GroupRequests
                {...{ reference, state, isRunning }}
                onChoose={(each) => changeFilters({ state: each })}
              />
            </>
          )}
        </Loaded>
      )}
    </Page>
  )
}

function Progress({ group }: { group: RequestGroup }) {
  const { counts, startable, waiting, ownWaiting, found, erased, firstReceivedAt, closedAt, resumesAt } =
    group
  const total = totalOf(group)
  const closed = total - counts.open - counts.running
  const isRunning = counts.running > 0
  return (
    <section class="card" aria-labelledby="progress">
      <header>
        <h2 id="progress">
          {formatNumber(closed)} of {counted(total, 'request')} closed
        </h2>
        <Badge state={stateOf(group)} />
      </header>
      <progress max={total} value={closed} aria-labelledby="progress" />
      {isRunning && <JobPace done={closed} total={closed + counts.running} {...{ isRunning, resumesAt }} />}
      {isRunning && (
        <p class="muted">
          {resumesAt === null
            ? 'You can close this page. The service continues, also after a restart.'
            : 'The erasure budget is used up. The service continues automatically.'}
        </p>
      )}
      {waiting > 0 && (
        <div class="approval">
          <p>
            <Icon name="clock" /> <strong>{counted(waiting, 'erasure')}</strong> waiting for approval by
            another member.
          </p>
          <Decide
            requests={waiting}
            own={ownWaiting}
            people={counted(waiting - ownWaiting, 'person', 'people')}
            onDecide={(verdict, requests) => changeGroup(verdict, { reference: group.reference, requests })}
          />
        </div>
      )}
      {startable > 0 && (
        <p class="note">
          {counted(startable, 'erasure request')} {startable === 1 ? 'has' : 'have'} not been started. If the
          service was stopped while you submitted a list, submit the same list with this reference again:
          nobody gets a second request.
        </p>
      )}
      <Figures
        of={[
          ['Done', counts.done],
          ['Running', counts.running],
          ['Not started', counts.open],
          ['Cancelled', counts.cancelled],
          ['Rejected', counts.rejected],
        ]}
      />
      <dl class="facts">
        <div>
          <dt>Received</dt>
          <dd>
            <When at={firstReceivedAt} as="exact" />
          </dd>
        </div>
        <div>
          <dt>Closed</dt>
          <dd>
            <When at={closedAt} as="exact" none="not yet" />
          </dd>
        </div>
        <div>
          <dt>Found</dt>
          <dd>{counted(found.subjects, 'data subject')}</dd>
        </div>
        <div>
          <dt>Erased</dt>
          <dd>
            {counted(erased.subjects, 'data subject')}, {counted(erased.sessions, 'session')},{' '}
            {counted(erased.events, 'event')}
          </dd>
        </div>
      </dl>
    </section>
  )
}

/** Changes all requests of a group, and shows what it has become everywhere. */
async function changeGroup(
  verb: 'start' | 'cancel' | 'approve' | 'decline',
  body: { reference: string; requests: number },
): Promise<RequestGroup> {
  try {
    return await change<RequestGroup>(`/request-groups/${verb}`, body)
  } finally {
    for (const path of ['/request-groups', '/requests', '/request-counts']) void refresh(path)
  }
}

function GroupActions({ group }: { group: RequestGroup }) {
  const [dialog, setDialog] = useState<(GroupDialogProps & { what: 'start' | 'cancel' }) | null>(null)
  const { reference, startable } = group
  const pending = pendingIn(group)
  // The numbers are those that the member has seen, also if the group changes meanwhile.
  const open = (what: 'start' | 'cancel') => setDialog({ what, group, onClose: () => setDialog(null) })
  return (
    <>
      <a
        class="button plain"
        href={`/console/api/request-groups/report?reference=${encode(reference)}`}
        download
      >
        <Icon name="download" />
        <span>{pending > 0 ? 'Download partial report' : 'Download report'}</span>
      </a>
      {startable > 0 && (
        <Button kind="danger" icon="trash" onClick={() => open('start')}>
          Start {counted(startable, 'erasure')}
        </Button>
      )}
      {pending > 0 && <Button onClick={() => open('cancel')}>Cancel those not finished</Button>}
      {dialog?.what === 'start' && <StartDialog {...dialog} />}
      {dialog?.what === 'cancel' && <CancelDialog {...dialog} />}
    </>
  )
}

interface GroupDialogProps {
  group: RequestGroup
  onClose(): void
}

function StartDialog({ group: { reference, startable, waiting }, onClose }: GroupDialogProps) {
  return (
    <Confirm
      title={`Start ${counted(startable, 'erasure')}`}
      action="Erase for good"
      kind="danger"
      typing={{ what: 'the number of requests', text: String(startable), field: 'requests' }}
      onConfirm={async () => {
        const group = await changeGroup('start', { reference, requests: startable })
        const isWaiting = group.waiting > waiting
        showToast(
          isWaiting ? `${counted(group.waiting, 'erasure')} waiting for another member` : 'Erasures started',
        )
        onClose()
      }}
      onClose={onClose}
    >
      <p>
        Everything that these requests find is deleted from all trackers, including data that your plan hides.
        This cannot be undone.
      </p>
      <ApprovalHint />
    </Confirm>
  )
}

function CancelDialog({ group, onClose }: GroupDialogProps) {
  return (
    <Confirm
      title={`Cancel ${counted(pendingIn(group), 'request')}`}
      action="Cancel those not finished"
      kind="danger"
      onConfirm={async () => {
        // There may be more than this page has shown.
        await changeGroup('cancel', { reference: group.reference, requests: totalOf(group) })
        showToast('Requests cancelled')
        onClose()
      }}
      onClose={onClose}
    >
      <p>
        People not yet erased keep their data. The names and IDs in these requests are deleted. What was
        erased cannot be restored.
      </p>
    </Confirm>
  )
}

/** The state of all requests together. */
function stateOf({ counts }: RequestGroup): keyof RequestGroup['counts'] {
  const states = ['running', 'open', 'done', 'cancelled', 'rejected'] as const
  return states.find((state) => counts[state] > 0) ?? 'done'
}

function pendingIn({ counts }: RequestGroup): number {
  return counts.open + counts.running
}

interface GroupRequestsProps {
  reference: string
  state: Shown
  isRunning: boolean
  onChoose(state: Shown): void
}

/** A page of the requests of a group. */
function GroupRequests({ reference, state, isRunning, onChoose }: GroupRequestsProps) {
  const paging = usePaging()
  const query = new URLSearchParams({ limit: '50', reference, state })
  if (paging.cursor !== null) query.set('cursor', paging.cursor)
  const list = useResource<RequestList>(`/requests?${query}`, {
    pollMs: () => (isRunning ? pollIntervalMs : false),
  })
  const choices = Object.entries(states).map(([each, title]) => [each as Shown, title] as const)
  return (
    <>
      <div class="inbox-tools">
        <Choice label="State" value={state} choices={choices} onChange={onChoose} isSmall />
      </div>
      <Loaded resource={list} lines={8}>
        {({ rows, nextCursor }) =>
          rows.length === 0 ? (
            <Empty icon="search" title="No matching requests">
              <p>No request with this reference is in this state.</p>
            </Empty>
          ) : (
            <>
              <RequestRows rows={rows} />
              <Pager paging={paging} nextCursor={nextCursor} label="Pages of requests" />
            </>
          )
        }
      </Loaded>
    </>
  )
}
