import { useEffect, useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { JobPace } from '../components/job-pace.tsx'
import { Page } from '../components/page.tsx'
import { Loaded } from '../components/states.tsx'
import { showFailure, showToast } from '../components/toasts.tsx'
import { Badge } from '../components/values.tsx'
import { counted, formatNumber, When } from '../components/when.tsx'
import { refreshErasures } from '../erasure.ts'
import { refresh, useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import type { Batch } from '../types.ts'
import { LineFigures } from './batch-preview.tsx'
import { pollIntervalMs, starterOf } from './batches.tsx'

export function BatchPage({ batchId }: { batchId: string }) {
  const batch = useResource<Batch>(`/batches/${batchId}`, {
    pollMs: (data) => (data?.state === 'running' ? pollIntervalMs : false),
  })
  const [isStopping, setStopping] = useState(false)
  const isOver = batch.data?.finishedAt != null
  useEffect(() => {
    if (isOver) refreshErasures()
  }, [isOver])
  async function send(verb: 'pause' | 'resume' | 'stop'): Promise<void> {
    await change(`/batches/${batchId}/${verb}`)
    await refresh('/batches')
  }
  return (
    <Page title="Batch" within="Batches" above={{ to: '/console/batches', title: 'Batches' }} intro={batchId}>
      <Loaded resource={batch} lines={6}>
        {(data) => (
          <>
            <Progress batch={data} />
            <div class="actions batch-actions">
              {data.state === 'running' && (
                <Button onClick={() => send('pause').catch(showFailure)}>Pause batch</Button>
              )}
              {data.state === 'paused' && (
                <Button kind="primary" onClick={() => send('resume').catch(showFailure)}>
                  Resume batch
                </Button>
              )}
              {data.finishedAt === null && (
                <Button kind="danger" onClick={() => setStopping(true)}>
                  Stop batch
                </Button>
              )}
              <a class="button plain" href={`/console/api/batches/${batchId}/report`} download>
                <Icon name="download" />
                <span>{data.finishedAt === null ? 'Download partial report' : 'Download report'}</span>
              </a>
            </div>
            <Lines batch={data} />
          </>
        )}
      </Loaded>
      {isStopping && (
        <Confirm
          title="Stop this batch"
          action="Stop the batch"
          kind="danger"
          onConfirm={async () => {
            await send('stop')
            showToast('Batch stopped')
            setStopping(false)
          }}
          onClose={() => setStopping(false)}
        >
          <p>
            People not yet erased keep their data. The rest of the list is discarded. Erased data cannot be
            restored.
          </p>
        </Confirm>
      )}
    </Page>
  )
}

function Progress({ batch }: { batch: Batch }) {
  const { subjects, settled, erased, state } = batch
  const done = erased?.subjects ?? settled
  return (
    <section class="card" aria-labelledby="progress">
      <header>
        <h2 id="progress">
          {formatNumber(done)} of {counted(subjects, 'data subject')} erased
        </h2>
        <Badge state={state} />
      </header>
      <progress max={subjects} value={done} aria-labelledby="progress" />
      {batch.finishedAt === null && (
        <JobPace
          done={settled}
          total={subjects}
          isRunning={state === 'running'}
          resumesAt={batch.resumesAt}
        />
      )}
      <dl class="facts">
        <div>
          <dt>Started</dt>
          <dd>
            <When at={batch.createdAt} as="exact" /> by {starterOf(batch)}
          </dd>
        </div>
        <div>
          <dt>Ended</dt>
          <dd>
            <When at={batch.finishedAt} as="exact" none="not yet" />
          </dd>
        </div>
        <div>
          <dt>Deleted</dt>
          <dd>
            {erased
              ? `${counted(erased.sessions, 'session')}, ${counted(erased.events, 'event')}`
              : 'shown when finished'}
          </dd>
        </div>
        {batch.requestId && (
          <div>
            <dt>Activity</dt>
            <dd>
              <Link to={`/console/activity?request=${encodeURIComponent(batch.requestId)}`}>
                Erasures of this batch
              </Link>
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}

function Lines({ batch }: { batch: Batch }) {
  const { nothing, finishedAt } = batch
  return (
    <section class="card" aria-labelledby="lines">
      <header>
        <h2 id="lines">List</h2>
      </header>
      <LineFigures of={batch} />
      <p>
        {nothing === 0
          ? 'All used lines matched stored data.'
          : `${counted(nothing, 'used line')} did not match any stored data.`}
      </p>
      <p class="muted">
        {finishedAt === null
          ? 'Each ID is deleted together with its data. The report refers to lines by number only.'
          : 'The list has been deleted. The report refers to lines by number only. Keep the original file only if you must.'}
      </p>
    </section>
  )
}
