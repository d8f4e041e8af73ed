import { useEffect, useState } from 'preact/hooks'
import { change, read } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { JobPace } from '../components/job-pace.tsx'
import { NotFoundPage, Page } from '../components/page.tsx'
import { LoadError, Loaded } from '../components/states.tsx'
import { showToast } from '../components/toasts.tsx'
import { Badge } from '../components/values.tsx'
import { counted, formatNumber } from '../components/when.tsx'
import { certificateAddress, refreshErasures } from '../erasure.ts'
import { type Resource, useFetched } from '../resource.ts'
import { navigate } from '../router.tsx'
import type { Batch, BatchCertificate, Certificate } from '../types.ts'
import { type Checked, verifyCertificate } from '../verify.ts'
import { CertificateSheet, type Missing } from './certificate-sheet.tsx'
import { ReceiptBox, saveText } from './receipt-box.tsx'

/** A longer list of entries is not a certificate. */
const maxNumbers = 50
/** How often the page polls an erasure that is running, and one that waits for its budget. */
const pollIntervalMs = { running: 1_000, waiting: 10_000 }

/**
 * A certificate: of ledger entries by their numbers, `13` or `13,14,15`, or of a person, by the batch that
 * erased them.
 */
export function CertificatePage({ of }: { of: string }) {
  if (/^batch_\w+$/.test(of)) return <PersonCertificate key={of} batchId={of} />
  const numbers = [...new Set(of.split(',').map(Number))]
  if (!isNumbers(of) || numbers.includes(0) || numbers.length > maxNumbers) return <NotFoundPage />
  return <EntryCertificate key={of} indexes={numbers.map((number) => number - 1)} />
}

/** Redirects from the former addresses of certificates, whose numbers started at 0. */
export function FormerCertificatePage({ indexes }: { indexes: string }) {
  const isGood = isNumbers(indexes)
  useEffect(() => {
    const numbers = indexes.split(',').map((index) => Number(index) + 1)
    if (isGood) navigate(certificateAddress(numbers.join(',')), { replace: true })
  }, [indexes])
  return isGood ? null : <NotFoundPage />
}

function isNumbers(text: string): boolean {
  return /^\d{1,15}(,\d{1,15})*$/.test(text)
}

function EntryCertificate({ indexes }: { indexes: number[] }) {
  const checked = useFetched(`/erasures/certificate?index=${indexes.join(',')}`, async (_, signal) => ({
    checked: await Promise.all(
      indexes.map(async (index) =>
        check(await read<Certificate>(`/erasures/certificate?index=${index}`, signal)),
      ),
    ),
    missing: null,
    batch: null,
  }))
  const title = `Certificate No. ${indexes.map((index) => index + 1).join(', ')}`
  return <CertificateFrame title={title} resource={checked} />
}

/** The data of a certificate. */
interface Certified {
  checked: Checked[]
  missing: Missing | null
  /** The erasure of a person; `null` for single entries. */
  batch: Batch | null
}

function PersonCertificate({ batchId }: { batchId: string }) {
  const path = `/batches/${batchId}/certificate`
  const certified = useFetched<Certified>(path, (_, signal) => certify(path, signal), {
    pollMs: (data) =>
      data?.batch?.finishedAt !== null ? false : pollIntervalMs[data.batch.resumesAt ? 'waiting' : 'running'],
  })
  const isOver = certified.data?.batch?.finishedAt != null
  // Data fetched while it ran may contain people who are now erased.
  useEffect(() => {
    if (isOver) refreshErasures()
  }, [isOver])
  const isRunning = certified.data?.batch?.finishedAt === null
  const title = isRunning ? 'Erasure in progress' : 'Certificate of erasure'
  return <CertificateFrame title={title} resource={certified} intro={batchId} />
}

/** Fetches all pages of a person's certificate and verifies each entry. */
async function certify(path: string, signal: AbortSignal): Promise<Certified & { batch: Batch }> {
  const missing = { waiting: 0, gone: 0, stopped: 0, left: 0 }
  const checked: Checked[] = []
  let after: number | null = null
  for (;;) {
    const query: string = after === null ? '' : `?after=${after}`
    const page: BatchCertificate = await read<BatchCertificate>(path + query, signal)
    for (const outcome of ['waiting', 'gone', 'stopped'] as const) missing[outcome] += page[outcome]
    checked.push(...(await Promise.all(page.certificates.map(check))))
    after = page.nextPlace
    if (after === null)
      return { checked, batch: page.batch, missing: { ...missing, left: page.batch.left ?? 0 } }
  }
}

async function check(certificate: Certificate): Promise<Checked> {
  return { certificate, verdict: await verifyCertificate(certificate) }
}

function CertificateFrame({
  title,
  intro,
  resource,
}: {
  title: string
  intro?: string
  resource: Resource<Certified>
}) {
  const { checked = [], batch = null } = resource.data ?? {}
  const isShown = checked.length > 0 && (batch === null || batch.finishedAt !== null)
  const receipts = checked.flatMap(({ certificate: { receipt, entry } }) =>
    receipt === null ? [] : [{ number: entry.index + 1, receipt }],
  )
  return (
    <Page
      title={title}
      within="Erasures"
      above={{ to: '/console/erasures', title: 'Erasures' }}
      {...(intro !== undefined && { intro })}
      actions={
        isShown && (
          <>
            {receipts.length > 0 && (
              <Button icon="download" onClick={() => receipts.forEach(saveReceipt)}>
                {receipts.length === 1 ? 'Download the receipt' : `Download ${receipts.length} receipts`}
              </Button>
            )}
            <Button kind="primary" icon="print" onClick={() => print()}>
              Print or save as PDF
            </Button>
          </>
        )
      }
    >
      {resource.error ? (
        <LoadError error={resource.error} onRetry={resource.reload} />
      ) : (
        <Loaded resource={resource} lines={12}>
          {({ checked, missing, batch }) => (
            <>
              {batch && !isShown && <Progress batch={batch} onStopped={resource.reload} />}
              {isShown && (
                <>
                  <CertificateSheet {...{ checked, missing, batch }} />
                  <ReceiptBox certificates={checked.map(({ certificate }) => certificate)} />
                </>
              )}
            </>
          )}
        </Loaded>
      )}
    </Page>
  )
}

/** The progress of an erasure that has no certificate yet. */
function Progress({ batch, onStopped }: { batch: Batch; onStopped(): void }) {
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

function saveReceipt({ number, receipt }: { number: number; receipt: string }): void {
  saveText(`receipt-${number}.txt`, receipt)
}
