import { useEffect, useId, useState } from 'preact/hooks'
import { ApiError, encode } from '../api.ts'
import { Icon } from '../components/icon.tsx'
import { Page } from '../components/page.tsx'
import { Pager, usePaging } from '../components/pager.tsx'
import { Empty, LoadError, Loaded } from '../components/states.tsx'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import { choiceParam, textParam, useSearchParams } from '../search-params.ts'
import type { SubjectList as SubjectPage, TrackerList } from '../types.ts'
import { SubjectTable } from './subject-table.tsx'
import { TrackerMenu } from './tracker-menu.tsx'
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

export function TrackerPage({ trackerId }: { trackerId: string }) {
  const trackers = useResource<TrackerList>('/trackers')
  const tracker = trackers.data?.trackers.find(({ id }) => id === trackerId)
  if (trackers.data && !tracker) {
    return (
      <Page title="Tracker not found" above={above}>
        <LoadError
          error={new ApiError(404, 'not_found', 'This tracker does not exist or was deleted.', null)}
        />
      </Page>
    )
  }
  return (
    <Page
      title={tracker?.name ?? trackerId}
      within="Trackers"
      intro={
        tracker
          ? `${subjectCount(tracker)} ${tracker.subjects === 1 ? 'data subject' : 'data subjects'}`
          : ' '
      }
      above={above}
      actions={
        <>
          <Link to={`/console/trackers/${encode(trackerId)}/variables`} class="button">
            <Icon name="variables" /> Variables
          </Link>
          {tracker && <TrackerMenu id={trackerId} name={tracker.name} />}
        </>
      }
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

/** Filters by ID prefix when typing pauses. */
function PrefixSearch({ prefix, onSearch }: { prefix: string; onSearch(prefix: string): void }) {
  const [text, setText] = useState(prefix)
  const id = useId()
  // Only typing starts a search.
  useEffect(() => {
    if (text === prefix) return
    const timer = setTimeout(() => onSearch(text), 250)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <search class="field search">
      <label for={id} class="visually-hidden">
        ID prefix
      </label>
      <Icon name="search" />
      <input
        id={id}
        type="search"
        class="code"
        placeholder="Filter by ID prefix…"
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </search>
  )
}
