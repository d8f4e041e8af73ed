import { useEffect, useId, useState } from 'preact/hooks'
import { encode } from '../api.ts'
import { Icon } from '../parts/icon.tsx'
import { Page } from '../parts/page.tsx'
import { Pager, usePaging } from '../parts/pager.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { formatNumber, When } from '../parts/when.tsx'
import { useResource } from '../resource.ts'
import { Link, navigate, useAddress } from '../router.tsx'
import type { Subject, Tracker } from '../types.ts'
import { subjectCount, TrackerChart } from './trackers.tsx'

const sorts = [
  { value: '-lastSeenAt', title: 'Last seen, newest first' },
  { value: 'lastSeenAt', title: 'Last seen, oldest first' },
  { value: 'subjectId', title: 'By id' },
]
const pageSize = 25

export function SubjectsPage({ trackerId }: { trackerId: string }) {
  const trackers = useResource<{ trackers: Tracker[] }>('/trackers')
  const tracker = trackers.data?.trackers.find(({ id }) => id === trackerId)
  const [measure, setMeasure] = useState<'sessions' | 'events'>('sessions')
  return (
    <Page
      title={tracker?.name ?? trackerId}
      intro={tracker ? `${subjectCount(tracker)} data subjects` : ' '}
      above={{ to: '/console/trackers', title: 'Trackers' }}
    >
      <section class="card" aria-labelledby="totals">
        <header>
          <h2 id="totals">Daily totals</h2>
          <fieldset class="segments small">
            <legend class="visually-hidden">What to count</legend>
            {(['sessions', 'events'] as const).map((each) => (
              <label key={each}>
                <input
                  type="radio"
                  name="measure"
                  checked={measure === each}
                  onChange={() => setMeasure(each)}
                />
                <span>{each}</span>
              </label>
            ))}
          </fieldset>
        </header>
        <TrackerChart {...{ trackerId, measure }} isLarge />
      </section>
      <SubjectList trackerId={trackerId} />
    </Page>
  )
}

function SubjectList({ trackerId }: { trackerId: string }) {
  const { path, query } = useAddress()
  const prefix = query.get('prefix') ?? ''
  const sort = prefix === '' ? (query.get('sort') ?? '-lastSeenAt') : 'subjectId'
  const paging = usePaging()
  const sortId = useId()
  const parameters = new URLSearchParams({ limit: String(pageSize), sort })
  if (prefix !== '') parameters.set('subjectIdPrefix', prefix)
  if (paging.cursor !== null) parameters.set('cursor', paging.cursor)
  const subjects = useResource<{ subjects: Subject[]; nextCursor: string | null }>(
    `/trackers/${encode(trackerId)}/subjects?${parameters}`,
  )
  function show(changes: Record<string, string>): void {
    const next = new URLSearchParams(query)
    for (const [name, value] of Object.entries(changes)) {
      if (value === '') next.delete(name)
      else next.set(name, value)
    }
    paging.restart()
    navigate(next.size > 0 ? `${path}?${next}` : path, { replace: true })
  }
  return (
    <section aria-label="Data subjects">
      <div class="tools">
        <PrefixSearch prefix={prefix} onSearch={(text) => show({ prefix: text })} />
        <div class="field inline">
          <label for={sortId}>Order</label>
          <select
            id={sortId}
            value={sort}
            disabled={prefix !== ''}
            title={prefix === '' ? undefined : 'What was found is in the order of ids'}
            onChange={(event) => show({ sort: event.currentTarget.value })}
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
                <p>Nobody has been recorded yet, or everybody has aged out.</p>
              </Empty>
            ) : (
              <Empty icon="search" title="Nobody found">
                <p>No id begins with “{prefix}”. Capital letters count.</p>
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

/** Searches as one types, once the typing pauses. */
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
        Find ids that begin with
      </label>
      <Icon name="search" />
      <input
        id={id}
        type="search"
        class="code"
        placeholder="Id begins with…"
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </search>
  )
}

function SubjectTable({ trackerId, subjects }: { trackerId: string; subjects: Subject[] }) {
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="visually-hidden">Data subjects</caption>
        <thead>
          <tr>
            <th scope="col">Data subject</th>
            <th scope="col">Last seen</th>
            <th scope="col">First seen</th>
            <th scope="col" class="number">
              Sessions
            </th>
            <th scope="col" class="number">
              Events
            </th>
          </tr>
        </thead>
        <tbody>
          {subjects.map(({ subjectId, firstSeenAt, lastSeenAt, counts }) => (
            <tr key={subjectId} class="leads">
              <th scope="row">
                <Link to={`/console/trackers/${encode(trackerId)}/subjects/${encode(subjectId)}`}>
                  <code class="wrap">{subjectId}</code>
                </Link>
              </th>
              <td data-label="Last seen">
                <When at={lastSeenAt} />
              </td>
              <td data-label="First seen">
                <When at={firstSeenAt} />
              </td>
              <td class="number" data-label="Sessions">
                {formatNumber(counts.sessions)}
              </td>
              <td class="number" data-label="Events">
                {formatNumber(counts.events)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
