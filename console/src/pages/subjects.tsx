import { useId } from 'preact/hooks'
import { ApiError, encode } from '../api.ts'
import { Page } from '../parts/page.tsx'
import { Pager, usePaging } from '../parts/pager.tsx'
import { Broken, Empty, Loaded } from '../parts/states.tsx'
import { useResource } from '../resource.ts'
import { choiceParam, textParam, useSearchParams } from '../search-params.ts'
import type { SubjectList as SubjectPage, TrackerList } from '../types.ts'
import { PrefixSearch } from './prefix-search.tsx'
import { SubjectTable } from './subject-table.tsx'
import { TrackerActions } from './tracker-actions.tsx'
import { TrackerTotals } from './tracker-totals.tsx'
import { subjectCount } from './trackers.tsx'

const sorts = [
  { value: '-lastSeenAt', title: 'Last seen, newest first' },
  { value: 'lastSeenAt', title: 'Last seen, oldest first' },
  { value: 'subjectId', title: 'ID' },
]
const sortParam = choiceParam('-lastSeenAt', 'lastSeenAt', 'subjectId')
const pageSize = 25
const above = { to: '/console/trackers', title: 'Trackers' }

export function SubjectsPage({ trackerId }: { trackerId: string }) {
  const trackers = useResource<TrackerList>('/trackers')
  const tracker = trackers.data?.trackers.find(({ id }) => id === trackerId)
  if (trackers.data && !tracker) {
    return (
      <Page title="Tracker not found" above={above}>
        <Broken error={new ApiError(404, 'not_found', 'This tracker does not exist or was deleted.', null)} />
      </Page>
    )
  }
  return (
    <Page
      title={tracker?.name ?? trackerId}
      within="Trackers"
      intro={tracker ? `${subjectCount(tracker)} data subjects` : ' '}
      above={above}
      actions={<TrackerActions id={trackerId} name={tracker?.name} />}
    >
      <TrackerTotals trackerId={trackerId} />
      <SubjectList trackerId={trackerId} />
    </Page>
  )
}

function SubjectList({ trackerId }: { trackerId: string }) {
  const [filters, filter] = useSearchParams({ prefix: textParam, sort: sortParam })
  const { prefix } = filters
  const sort = prefix === '' ? filters.sort : 'subjectId'
  const paging = usePaging()
  const sortId = useId()
  const parameters = new URLSearchParams({ limit: String(pageSize), sort })
  if (prefix !== '') parameters.set('subjectIdPrefix', prefix)
  if (paging.cursor !== null) parameters.set('cursor', paging.cursor)
  const subjects = useResource<SubjectPage>(`/trackers/${encode(trackerId)}/subjects?${parameters}`)
  return (
    <section aria-label="Data subjects">
      <div class="tools">
        <PrefixSearch prefix={prefix} onSearch={(text) => filter({ prefix: text })} />
        <div class="field inline">
          <label for={sortId}>Sort by</label>
          <select
            id={sortId}
            value={sort}
            disabled={prefix !== ''}
            title={prefix === '' ? undefined : 'Results are sorted by ID'}
            onChange={(event) => filter({ sort: sortParam.read(event.currentTarget.value) })}
          >
            {sorts.map(({ value, title }) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </div>
      </div>
      <Loaded resource={subjects} lines={10}>
        {({ subjects, nextCursor }) =>
          subjects.length === 0 ? (
            prefix === '' ? (
              <Empty icon="person" title="No data subjects">
                <p>No visitors have been recorded yet, or all data has expired.</p>
              </Empty>
            ) : (
              <Empty icon="search" title="No results">
                <p>No ID starts with “{prefix}”. IDs are case-sensitive.</p>
              </Empty>
            )
          ) : (
            <>
              <SubjectTable trackerId={trackerId} subjects={subjects} />
              <Pager paging={paging} nextCursor={nextCursor} label="Pages of data subjects" />
            </>
          )
        }
      </Loaded>
    </section>
  )
}
