import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Chart } from '../components/chart.tsx'
import { NameDialog } from '../components/dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { Page } from '../components/page.tsx'
import { Empty, LoadError, Loaded } from '../components/states.tsx'
import { showToast } from '../components/toasts.tsx'
import { formatNumber } from '../components/when.tsx'
import { refresh, useResource } from '../resource.ts'
import { Link, navigate } from '../router.tsx'
import { useSession } from '../session.tsx'
import type { Totals, Tracker, TrackerList, TrackerName } from '../types.ts'

export function TrackersPage() {
  const trackers = useResource<TrackerList>('/trackers')
  const [doing, setDoing] = useState<'create' | Tracker | null>(null)
  const stop = () => setDoing(null)
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setDoing('create')}>
      Create a tracker
    </Button>
  )
  async function save(name: string): Promise<void> {
    if (doing === 'create') {
      const { id } = await change<TrackerName>('/trackers', { name })
      await refresh('/trackers')
      showToast(`Created “${name}”`)
      // Its page explains how to import data.
      navigate(`/console/trackers/${encode(id)}`)
      return
    }
    if (doing) await change(`/trackers/${encode(doing.id)}/rename`, { name })
    showToast(`Renamed to “${name}”`)
    await refresh('/trackers')
    stop()
  }
  return (
    <Page
      title="Trackers"
      intro="The websites and apps whose visitors are recorded. Daily totals are kept when visitor data expires or is erased."
      actions={create}
    >
      <Loaded resource={trackers} lines={8}>
        {({ trackers }) =>
          trackers.length === 0 ? (
            <Empty icon="trackers" title="No trackers yet">
              <p>Create a tracker, then import recorded data or connect your collector.</p>
              {create}
            </Empty>
          ) : (
            <ul class="cards">
              {trackers.map((tracker) => (
                <li key={tracker.id}>
                  <TrackerCard tracker={tracker} onRename={() => setDoing(tracker)} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {doing === 'create' && (
        <NameDialog
          title="Create a tracker"
          action="Create the tracker"
          hint="For example “Web shop”. An ID is generated automatically."
          onSave={save}
          onClose={stop}
        />
      )}
      {doing !== null && doing !== 'create' && (
        <NameDialog
          title="Rename the tracker"
          action="Rename"
          name={doing.name}
          onSave={save}
          onClose={stop}
        />
      )}
    </Page>
  )
}

function TrackerCard({ tracker, onRename }: { tracker: Tracker; onRename(): void }) {
  const { id, name } = tracker
  return (
    <article class="card" aria-labelledby={`tracker-${id}`}>
      <header>
        <h2 id={`tracker-${id}`}>
          <Link to={`/console/trackers/${encode(id)}`}>{name}</Link>
        </h2>
        <Button kind="quiet" icon="edit" label={`Rename ${name}`} onClick={onRename}>
          Rename
        </Button>
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
      <TrackerChart trackerId={id} />
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

/** A tracker's chart, fetched when it comes into view. */
function TrackerChart({ trackerId }: { trackerId: string }) {
  const { retentionDays } = useSession().organisation
  const { ref, isInView } = useInView<HTMLDivElement>()
  const days = Math.ceil(retentionDays * 1.25)
  const totals = useResource<Totals>(isInView ? `/trackers/${encode(trackerId)}/totals?days=${days}` : null)
  if (totals.error) return <LoadError error={totals.error} onRetry={totals.reload} />
  if (totals.data) return <Chart totals={totals.data} retentionDays={retentionDays} />
  return <div ref={ref} class="chart waiting" role="status" aria-label="Loading the chart" />
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
