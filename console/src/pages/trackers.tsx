import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { binsBefore, toBins } from '../components/days.ts'
import { NameDialog } from '../components/dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { Page } from '../components/page.tsx'
import { Sparkline } from '../components/sparkline.tsx'
import { Empty, LoadError, Loaded } from '../components/states.tsx'
import { showToast } from '../components/toasts.tsx'
import { formatNumber } from '../components/when.tsx'
import { refresh, useResource } from '../resource.ts'
import { Link, navigate } from '../router.tsx'
import { flagParam, useSearchParams } from '../search-params.ts'
import { useMay } from '../session.tsx'
import type { Totals, Tracker, TrackerList, TrackerName } from '../types.ts'
import { TrackerMenu } from './tracker-menu.tsx'

export function TrackersPage() {
  const trackers = useResource<TrackerList>('/trackers')
  const [{ create: isCreating }, setParams] = useSearchParams({ create: flagParam })
  const setCreating = (create: boolean) => setParams({ create })
  const mayCreate = useMay('admin')
  const createButton = mayCreate && (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      Create a tracker
    </Button>
  )
  async function create(name: string): Promise<void> {
    const { id } = await change<TrackerName>('/trackers', { name })
    await refresh('/trackers')
    showToast(`Created “${name}”`)
    // Its page explains how to import data.
    navigate(`/console/trackers/${encode(id)}`)
  }
  return (
    <Page
      title="Trackers"
      intro="The websites and apps whose visitors are recorded. Daily totals are kept when visitor data expires or is erased."
      actions={createButton}
    >
      <Loaded resource={trackers} lines={8}>
        {({ trackers }) =>
          trackers.length === 0 ? (
            <Empty icon="trackers" title="No trackers yet">
              <p>
                {mayCreate
                  ? 'Create a tracker, then import recorded data or connect your collector.'
                  : 'An admin can create one.'}
              </p>
              {createButton}
            </Empty>
          ) : (
            <ul class="cards">
              {trackers.map((tracker) => (
                <li key={tracker.id}>
                  <TrackerCard tracker={tracker} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {mayCreate && isCreating && (
        <NameDialog
          title="Create a tracker"
          action="Create the tracker"
          hint="For example “Web shop”. An ID is generated automatically."
          onSave={create}
          onClose={() => setCreating(false)}
        />
      )}
    </Page>
  )
}

function TrackerCard({ tracker }: { tracker: Tracker }) {
  const { id, name } = tracker
  return (
    <article class="card" aria-labelledby={`tracker-${id}`}>
      <header>
        <h2 id={`tracker-${id}`}>
          <Link to={`/console/trackers/${encode(id)}`}>{name}</Link>
        </h2>
        <TrackerMenu id={id} name={name} />
      </header>
      <dl class="figures">
        <div>
          <dt>Data subjects</dt>
          <dd class="figure">{subjectCount(tracker)}</dd>
        </div>
        <div>
          <dt>ID</dt>
          <dd>
            <code class="wrap">{id}</code>
          </dd>
        </div>
      </dl>
      <TrackerSparkline trackerId={id} />
      <footer>
        <Link to={`/console/trackers/${encode(id)}`} class="go" label={`Data subjects of ${name}`}>
          Data subjects <Icon name="next" />
        </Link>
      </footer>
    </article>
  )
}

/** The server stops counting at a bound. */
export function subjectCount({ subjects, hasMoreSubjects }: Tracker): string {
  return `${formatNumber(subjects)}${hasMoreSubjects ? ' or more' : ''}`
}

const sparklineDays = 30

/** A tracker's sessions, fetched when it comes into view. */
function TrackerSparkline({ trackerId }: { trackerId: string }) {
  const { ref, isInView } = useInView<HTMLDivElement>()
  const path = `/trackers/${encode(trackerId)}/totals?days=${2 * sparklineDays}`
  const { data, error, reload } = useResource<Totals>(isInView ? path : null)
  if (error) return <LoadError error={error} onRetry={reload} />
  if (!data) return <div ref={ref} class="spark waiting" role="status" aria-label="Loading the sessions" />
  const days = data.days.map(({ day, sessions }) => ({ day, value: sessions }))
  const bins = toBins(days, data.today, sparklineDays)
  return <Sparkline bins={bins} before={binsBefore(days, bins)} />
}

/** Whether an element has been in view. */
function useInView<Kind extends Element>(): { ref: RefObject<Kind | null>; isInView: boolean } {
  const ref = useRef<Kind>(null)
  const [isInView, setSeen] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element || isInView) return
    const watching = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(true)
    })
    watching.observe(element)
    return () => watching.disconnect()
  }, [isInView])
  return { ref, isInView }
}
