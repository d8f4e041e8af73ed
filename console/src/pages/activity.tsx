import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { GroupRows } from '../components/group-rows.tsx'
import { Icon } from '../components/icon.tsx'
import { Page } from '../components/page.tsx'
import { Pager, usePaging } from '../components/pager.tsx'
import { Empty, Loaded, Placeholder } from '../components/states.tsx'
import { Table } from '../components/table.tsx'
import { showFailure } from '../components/toasts.tsx'
import { ActorName } from '../components/values.tsx'
import { Ago, counted } from '../components/when.tsx'
import { certificateAddress } from '../erasure.ts'
import { requestAddress } from '../requests.ts'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import { For } from '../session.tsx'
import type {
  Activity,
  ActivityGroup,
  ActivityGroupList,
  ActivityList,
  Ledger,
  LedgerVerification,
} from '../types.ts'
import { type HeadVerdict, headIsSigned, verifyHead } from '../verify.ts'
import { Filters, titleOf, titles, toParameters, useActivityFilters } from './activity-filters.tsx'

const pageSize = 50

export function ActivityPage() {
  const [filters, filter] = useActivityFilters()
  const paging = usePaging()
  const narrowed = toParameters(filters)
  const parameters = new URLSearchParams([['limit', String(pageSize)], ...narrowed])
  if (paging.cursor !== null) parameters.set('cursor', paging.cursor)
  // The entries of a single request are what a group would hide.
  const isGrouped = filters.request === ''
  const groups = useResource<ActivityGroupList>(isGrouped ? `/activity/groups?${parameters}` : null)
  const entries = useResource<ActivityList>(isGrouped ? null : `/activity?${parameters}`)
  return (
    <Page title="Activity" intro="Who did what, and when. Data subjects are never identified.">
      <LedgerState />
      <Filters filters={filters} onChange={(changes) => filter(changes, { push: true })} />
      {isGrouped ? (
        <Loaded resource={groups} lines={10}>
          {({ groups, nextCursor }) => (
            <ActivityTable {...{ paging, nextCursor, narrowed }}>
              {groups.map((group) =>
                group.count === 1 ? (
                  <EntryRow key={group.newest.id} entry={group.newest} />
                ) : (
                  <ActivityGroupRows key={group.newest.id} {...{ group, narrowed }} />
                ),
              )}
            </ActivityTable>
          )}
        </Loaded>
      ) : (
        <Loaded resource={entries} lines={10}>
          {({ entries, nextCursor }) => (
            <ActivityTable {...{ paging, nextCursor, narrowed }}>
              {entries.map((entry) => (
                <EntryRow key={entry.id} entry={entry} />
              ))}
            </ActivityTable>
          )}
        </Loaded>
      )}
    </Page>
  )
}

/** Exports all pages. */
function ExportLinks({ parameters }: { parameters: URLSearchParams }) {
  return (
    <p class="exports">
      Export {parameters.size > 0 ? 'these results' : 'all activity'} as{' '}
      {(['csv', 'json'] as const).map((format, i) => (
        <span key={format}>
          {i > 0 && ' or '}
          <a
            href={`/console/api/activity/export?${new URLSearchParams([...parameters, ['format', format]])}`}
            download
          >
            {format.toUpperCase()}
          </a>
        </span>
      ))}
    </p>
  )
}

interface ActivityTableProps {
  paging: ReturnType<typeof usePaging>
  nextCursor: string | null
  /** The filters. */
  narrowed: URLSearchParams
  children: ComponentChildren[]
}

function ActivityTable({ paging, nextCursor, narrowed, children }: ActivityTableProps) {
  if (children.length === 0) {
    return (
      <Empty icon="activity" title={narrowed.size > 0 ? 'No results' : 'No activity yet'}>
        <p>
          {narrowed.size > 0
            ? 'No results match every term. Request IDs must match exactly.'
            : 'Changes to keys, trackers and members, sign-ins and erasures appear here.'}
        </p>
      </Empty>
    )
  }
  return (
    <>
      <Table caption="Activity, newest first" columns={['Action', 'Actor', 'Time', 'Request ID']}>
        {children}
      </Table>
      <div class="table-foot">
        <Pager paging={paging} nextCursor={nextCursor} label="Pages of activity" />
        <For least="desk">
          <ExportLinks parameters={narrowed} />
        </For>
      </div>
    </>
  )
}

function EntryRow({ entry, isWithin = false }: { entry: Activity; isWithin?: boolean }) {
  return (
    <tr class={isWithin ? 'within' : undefined}>
      <th scope="row">
        <span class="strong">{titles[entry.kind] ?? entry.kind}</span>
        <Detail entry={entry} />
      </th>
      <EntryCells entry={entry} />
    </tr>
  )
}

function EntryCells({ entry: { actor, at, requestId } }: { entry: Activity }) {
  return (
    <>
      <td data-label="Actor">
        <ActorName actor={actor} />
      </td>
      <td data-label="Time">
        <Ago at={at} />
      </td>
      <td data-label="Request ID">
        {requestId === null ? <span class="muted">none</span> : <code class="wrap small">{requestId}</code>}
      </td>
    </>
  )
}

/** How many entries of a group are shown below it. */
const shownWithin = 25

/** The entries of a group are those of its request, as far as the filters and the group itself reach. */
function ActivityGroupRows({ group, narrowed }: { group: ActivityGroup; narrowed: URLSearchParams }) {
  const { newest, oldestAt, count, counts, ledgerIndex } = group
  const requestId = newest.requestId ?? ''
  const parameters = new URLSearchParams([...narrowed, ['limit', String(shownWithin)]])
  parameters.set('requestId', requestId)
  parameters.set('since', oldestAt)
  parameters.set('until', new Date(Date.parse(newest.at) + 1).toISOString())
  const { title, others } = titleOf(group)
  const deleted = counts && `${counted(counts.sessions, 'session')}, ${counted(counts.events, 'event')}`
  const all = `/console/activity?request=${encode(requestId)}`
  return (
    <GroupRows<ActivityList>
      title={title}
      detail={
        <>
          {[...others, deleted].filter(Boolean).map((part) => `${part} · `)}
          {ledgerIndex !== null && (
            <>
              <CertificateLink index={ledgerIndex} />
              {' · '}
            </>
          )}
          <Link to={all}>All entries of this request</Link>
        </>
      }
      cells={<EntryCells entry={newest} />}
      path={`/activity?${parameters}`}
      columns={4}
    >
      {({ entries }) => (
        <>
          {entries.map((entry) => (
            <EntryRow key={entry.id} entry={entry} isWithin />
          ))}
          {count > entries.length && (
            <tr class="within">
              <td colSpan={4}>
                <Link to={all}>{counted(count - entries.length, 'more entry', 'more entries')}</Link>
              </td>
            </tr>
          )}
        </>
      )}
    </GroupRows>
  )
}

function Detail({ entry: { target, counts, ledgerIndex, request } }: { entry: Activity }) {
  if (target === null && counts === null) return null
  const deleted = counts && `${counted(counts.sessions, 'session')}, ${counted(counts.events, 'event')}`
  return (
    <span class="detail">
      {request ? (
        <Link to={requestAddress(request.id)}>{request.reference ?? request.id}</Link>
      ) : (
        [target, deleted].filter(Boolean).join(' · ')
      )}
      {ledgerIndex !== null && (
        <>
          {' · '}
          <CertificateLink index={ledgerIndex} />
        </>
      )}
    </span>
  )
}

function CertificateLink({ index }: { index: number }) {
  return <Link to={certificateAddress(index)}>Certificate {index + 1}</Link>
}

/** The state of the erasure ledger, with its signature verified in the browser. */
function LedgerState() {
  const ledger = useResource<Ledger>('/ledger')
  const [verdict, setVerdict] = useState<HeadVerdict | null>(null)
  const [computed, setComputed] = useState<LedgerVerification | null>(null)
  const [isBusy, setBusy] = useState(false)
  const { data } = ledger
  useEffect(() => {
    if (data) void verifyHead(data).then(setVerdict)
  }, [data?.checkpoint])
  function compute(): void {
    setBusy(true)
    change<LedgerVerification>('/ledger/verify')
      .then(setComputed, showFailure)
      .finally(() => setBusy(false))
  }
  return (
    <section class="card ledger-state" aria-labelledby="ledger">
      <header>
        <h2 id="ledger">Erasure ledger</h2>
        <Link to="/console/erasures" class="go">
          Erasures <Icon name="next" />
        </Link>
      </header>
      <dl class="facts">
        <div>
          <dt>Size</dt>
          <dd>{data ? counted(data.size, 'entry', 'entries') : '…'}</dd>
        </div>
        <div>
          <dt>Last entry</dt>
          <dd>{data ? <Ago at={data.lastEntryAt} /> : '…'}</dd>
        </div>
        <div>
          <dt>Root hash</dt>
          <dd>
            <code class="small">{data?.rootHash ?? <Placeholder like={'x'.repeat(44)} />}</code>
          </dd>
        </div>
        <div>
          <dt>Signature</dt>
          <dd>{verdict?.words ?? <Placeholder like={headIsSigned} />}</dd>
        </div>
      </dl>
      <footer>
        <Button isBusy={isBusy} onClick={compute}>
          Recompute
        </Button>
        <span role="status" class="muted">
          {computed &&
            (computed.problem ??
              `Recomputed from ${counted(computed.size, 'entry', 'entries')}: the root hash ${
                computed.rootHash === data?.rootHash ? 'matches' : 'has changed since this page was loaded'
              }.`)}
        </span>
      </footer>
    </section>
  )
}
