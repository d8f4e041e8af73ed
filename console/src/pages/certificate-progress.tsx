import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { JobPace } from '../components/job-pace.tsx'
import { showToast } from '../components/toasts.tsx'
import { Badge } from '../components/values.tsx'
import { counted, formatNumber } from '../components/when.tsx'
import type { Batch } from '../types.ts'

/** The progress of an erasure that has no certificate yet. */
export function CertificateProgress({ batch, onStopped }: { batch: Batch; onStopped(): void }) {
  const [isStopping, setStopping] = useState(false)
  const { id, subjects, settled, state, finishedAt, resumesAt } = batch
  const isOver = finishedAt !== null
  return (
    <section class="card" aria-labelledby="progress">
      <header>
        <h2 id="progress">
          <span role="status">
            {formatNumber(isOver ? 0 : settled)} of {counted(subjects, 'data subject')} erased
          </span>
        </h2>
        <Badge state={state} />
      </header>
      <progress max={subjects} value={isOver ? 0 : settled} aria-labelledby="progress" />
      {!isOver && (
        <JobPace done={settled} total={subjects} isRunning={state === 'running'} resumesAt={resumesAt} />
      )}
      {isOver ? (
        <p>This erasure was stopped before anything was erased. All data of this person is kept.</p>
      ) : resumesAt ? (
        <p>The erasure budget is used up. The service continues automatically.</p>
      ) : state === 'paused' ? (
        <p>This erasure is paused.</p>
      ) : (
        <p>The service is erasing one data subject at a time.</p>
      )}
      {!isOver && (
        <>
          <p class="muted">You can close this page. The certificate will be at the same address.</p>
          <footer>
            <Button kind="danger" onClick={() => setStopping(true)}>
              Stop this erasure
            </Button>
          </footer>
        </>
      )}
      {isStopping && (
        <Confirm
          title="Stop this erasure"
          action="Stop the erasure"
          kind="danger"
          onConfirm={async () => {
            await change(`/batches/${id}/stop`)
            showToast('Erasure stopped')
            setStopping(false)
            onStopped()
          }}
          onClose={() => setStopping(false)}
        >
          <p>
            Data subjects not yet erased keep their data. Erased data cannot be restored. The certificate will
            say how much is missing.
          </p>
        </Confirm>
      )}
    </section>
  )
}
