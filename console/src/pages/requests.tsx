import type { ComponentChildren } from 'preact'
import { Button } from '../components/button.tsx'
import { Choice } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'
import { Page } from '../components/page.tsx'
import { Pager, usePaging } from '../components/pager.tsx'
import { Empty, Loaded, Placeholder } from '../components/states.tsx'
import { countInWords } from '../requests.ts'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import { choiceParam, flagParam, useSearchParams } from '../search-params.ts'
import { useMay } from '../session.tsx'
import type { RequestCounts, RequestList } from '../types.ts'
import { NewRequest } from './new-request.tsx'
import { RequestRows } from './request-rows.tsx'

const views = ['open', 'mine', 'overdue', 'closed'] as const
type View = (typeof views)[number]

const filters = {
  view: choiceParam<View>(...views),
  kind: choiceParam('all', 'access', 'erasure'),
  /** How closed requests ended. */
  ended: choiceParam('done', 'rejected', 'cancelled'),
  create: flagParam,
}

type Filters = { [Name in keyof typeof filters]: ReturnType<(typeof filters)[Name]['read']> }

/** How often the list is fetched again while a request is running. */
const pollMs = 2_000

/** The inbox: what people asked for, soonest due first. The console's first page. */
export function RequestsPage() {
  const [values, change] = useSearchParams<Filters>(filters)
  const { view, kind, ended, create } = values
  const paging = usePaging()
  const counts = useResource<RequestCounts>('/request-counts')
  const list = useResource<RequestList>(`/requests?${toQuery(values, paging.cursor)}`, {
    pollMs: (data) => (data?.rows.some(({ request }) => request.state === 'running') ? pollMs : false),
  })
  const mayCreate = useMay('desk')
  const createButton = mayCreate && (
    <Button kind="primary" icon="plus" onClick={() => change({ create: true })}>
      New request
    </Button>
  )
  return (
    <Page
      title="Requests"
      intro="What people have asked for, soonest due first. You have one month to answer."
      actions={
        <>
          {mayCreate && (
            <Link to="/console/requests/erase-list" class="button plain">
              <Icon name="trash" />
              <span>Erase a list</span>
            </Link>
          )}
          <Link to="/console/requests/report" class="button plain">
            <Icon name="trackers" />
            <span>Report</span>
          </Link>
          {createButton}
        </>
      }
    >
      <div class="inbox-tools">
        <Views view={view} counts={counts.data} />
        {view === 'closed' && (
          <Choice
            label="How it ended"
            value={ended}
            choices={[
              ['done', 'Done'],
              ['rejected', 'Rejected'],
              ['cancelled', 'Cancelled'],
            ]}
            onChange={(ended) => change({ ended })}
            isSmall
          />
        )}
        <Choice
          label="Kind"
          value={kind}
          choices={[
            ['all', 'All kinds'],
            ['access', 'Access'],
            ['erasure', 'Erasure'],
          ]}
          onChange={(kind) => change({ kind })}
          isSmall
        />
      </div>
      <Loaded resource={list} lines={8}>
        {({ rows, nextCursor }) =>
          rows.length === 0 ? (
            <NoRequests {...{ view, kind }}>{createButton}</NoRequests>
          ) : (
            <>
              <RequestRows rows={rows} />
              <Pager paging={paging} nextCursor={nextCursor} label="Pages of requests" />
            </>
          )
        }
      </Loaded>
      {mayCreate && create && <NewRequest onClose={() => change({ create: false })} />}
    </Page>
  )
}

function toQuery({ view, kind, ended }: Filters, cursor: string | null): URLSearchParams {
  const query = new URLSearchParams({ limit: '50' })
  if (view === 'mine') query.set('assignee', 'me')
  if (view === 'overdue') query.set('overdue', 'true')
  if (view === 'closed') query.set('state', ended)
  if (kind !== 'all') query.set('kind', kind)
  if (cursor !== null) query.set('cursor', cursor)
  return query
}

const viewTitles: Record<View, string> = { open: 'Open', mine: 'Mine', overdue: 'Overdue', closed: 'Closed' }

/** Links to the views, with the number of requests in each. */
function Views({ view, counts }: { view: View; counts: RequestCounts | null }) {
  return (
    <nav class="views" aria-label="Views">
      {views.map((each) => {
        const count = each === 'closed' ? undefined : counts?.[each]
        return (
          <Link
            key={each}
            to={each === 'open' ? '/console/requests' : `/console/requests?view=${each}`}
            isCurrent={each === view}
          >
            {viewTitles[each]}
            {each !== 'closed' && (
              <span class={each === 'overdue' && count ? 'count overdue' : 'count'}>
                {count === undefined ? <Placeholder like="0" /> : countInWords(count)}
              </span>
            )}
          </Link>
        )
      })}
    </nav>
  )
}

const emptyViews: Record<View, [title: string, text: string]> = {
  open: [
    'No open requests',
    'When someone asks for a copy or the erasure of their data, enter it here. Lethe finds their records, counts the days and keeps the proof.',
  ],
  mine: ['Nothing is assigned to you', 'Open a request to take it on.'],
  overdue: ['Nothing is overdue', 'Every open request is still within its time limit.'],
  closed: ['No closed requests', 'Requests appear here once they are done, rejected or cancelled.'],
}

function NoRequests({
  view,
  kind,
  children,
}: {
  view: View
  kind: Filters['kind']
  children: ComponentChildren
}) {
  const [title, text] = emptyViews[view]
  if (kind !== 'all') {
    return (
      <Empty icon="search" title="No matching requests">
        <p>There is no {kind} request here.</p>
      </Empty>
    )
  }
  return (
    <Empty icon={view === 'open' ? 'requests' : 'check'} title={title}>
      <p>{text}</p>
      {view === 'open' && children}
    </Empty>
  )
}
