import { certificateAddress } from '../erased.ts'
import { ActorName } from '../parts/actor.tsx'
import { Page } from '../parts/page.tsx'
import { Pager, usePaging } from '../parts/pager.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { counted, When } from '../parts/when.tsx'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import type { Activity, ActivityList } from '../types.ts'
import { Filters, toParameters, useActivityFilters } from './activity-filters.tsx'
import { titles } from './activity-titles.ts'
import { LedgerState } from './ledger-state.tsx'

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

/** All of it, not just this page. */
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
