import { useEffect, useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { Page } from '../components/page.tsx'
import { Pager, usePaging } from '../components/pager.tsx'
import { Empty, Loaded, Placeholder } from '../components/states.tsx'
import { showFailure } from '../components/toasts.tsx'
import { ActorName } from '../components/values.tsx'
import { counted, When } from '../components/when.tsx'
import { certificateAddress } from '../erasure.ts'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import type { Activity, ActivityList, Ledger, LedgerVerification } from '../types.ts'
import { type HeadVerdict, headIsSigned, verifyHead } from '../verify.ts'
import { Filters, titles, toParameters, useActivityFilters } from './activity-filters.tsx'

const pageSize = 50

export function ActivityPage() {
  const [filters, filter] = useActivityFilters()
  const paging = usePaging()
  const narrowed = toParameters(filters)
  const parameters = new URLSearchParams([['limit', String(pageSize)], ...narrowed])
  if (paging.cursor !== null) parameters.set('cursor', paging.cursor)
  const activity = useResource<ActivityList>(`/activity?${parameters}`)
  const isNarrow = narrowed.size > 0
  return (
    <Page title="Activity" intro="Who did what, and when. Data subjects are never identified.">
      <LedgerState />
      <Filters filters={filters} onChange={(changes) => filter(changes, { push: true })} />
      <Loaded resource={activity} lines={10}>
        {({ entries, nextCursor }) =>
          entries.length === 0 ? (
            <Empty icon="activity" title={isNarrow ? 'No results' : 'No activity yet'}>
              <p>
                {isNarrow
                  ? 'No results match every term. Request IDs must match exactly.'
                  : 'Changes to keys, trackers and members, sign-ins and erasures appear here.'}
              </p>
            </Empty>
          ) : (
            <>
              <ActivityTable entries={entries} />
              <div class="table-foot">
                <Pager paging={paging} nextCursor={nextCursor} label="Pages of activity" />
                <ExportLinks parameters={narrowed} />
              </div>
            </>
          )
        }
      </Loaded>
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

function ActivityTable({ entries }: { entries: Activity[] }) {
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="visually-hidden">Activity, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Action</th>
            <th scope="col">Actor</th>
            <th scope="col">Time</th>
            <th scope="col">Request ID</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <th scope="row">
                <span class="strong">{titles[entry.kind] ?? entry.kind}</span>
                <Detail entry={entry} />
              </th>
              <td data-label="Actor">
                <ActorName actor={entry.actor} />
              </td>
              <td data-label="Time">
                <When at={entry.at} as="exact" />
              </td>
              <td data-label="Request ID">
                {entry.requestId === null ? (
                  <span class="muted">none</span>
                ) : (
                  <code class="wrap small">{entry.requestId}</code>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Detail({ entry: { target, counts, ledgerIndex } }: { entry: Activity }) {
  if (target === null && counts === null) return null
  const deleted = counts && `${counted(counts.sessions, 'session')}, ${counted(counts.events, 'event')}`
  return (
    <span class="detail">
      {[target, deleted].filter(Boolean).join(' · ')}
      {ledgerIndex !== null && (
        <>
          {' · '}
          <Link to={certificateAddress(ledgerIndex)}>Certificate {ledgerIndex + 1}</Link>
        </>
      )}
    </span>
  )
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
          <dd>{data ? <When at={data.lastEntryAt} /> : '…'}</dd>
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
