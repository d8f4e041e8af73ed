import { useEffect } from 'preact/hooks'
import { digestEntries } from '../../../client/src/digest-entries.ts'
import { read } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Choice } from '../components/field.tsx'
import { NotFoundPage, Page } from '../components/page.tsx'
import { LoadError, Loaded } from '../components/states.tsx'
import { certificateAddress, refreshErasures } from '../erasure.ts'
import { languages } from '../replies.ts'
import { type Resource, useFetched, useResource } from '../resource.ts'
import { navigate, useAddress } from '../router.tsx'
import { textParam, useSearchParams } from '../search-params.ts'
import type { Batch, BatchCertificate, Certificate, OrganisationProfile } from '../types.ts'
import { type Checked, verifyCertificate } from '../verify.ts'
import { CertificateProgress } from './certificate-progress.tsx'
import { CertificateSheet } from './certificate-sheet.tsx'
import { wordsOf } from './certificate-texts.ts'
import type { Certified, PersonErasure } from './certified.ts'
import { profilePath } from './profile-card.tsx'
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
  const shown = useFetched(`/erasures/certificate?index=${indexes.join(',')}`, async (_, signal) => {
    const found = indexes.map((index) => read<Certificate>(`/erasures/certificate?index=${index}`, signal))
    return { certified: await certify(await Promise.all(found), null), batch: null }
  })
  const title = `Certificate No. ${indexes.map((index) => index + 1).join(', ')}`
  return <CertificateFrame title={title} resource={shown} />
}

/** A certificate, or the erasure that has none yet. */
interface Shown {
  certified: Certified | null
  batch: Batch | null
}

function PersonCertificate({ batchId }: { batchId: string }) {
  const shown = useFetched<Shown>(`/batches/${batchId}/certificate`, certifyBatch, {
    pollMs: (data) =>
      data?.batch?.finishedAt !== null ? false : pollIntervalMs[data.batch.resumesAt ? 'waiting' : 'running'],
  })
  const isOver = shown.data?.batch?.finishedAt != null
  // Data fetched while it ran may contain people who are now erased.
  useEffect(() => {
    if (isOver) refreshErasures()
  }, [isOver])
  const isRunning = shown.data?.batch?.finishedAt === null
  const title = isRunning ? 'Erasure in progress' : 'Certificate of erasure'
  return <CertificateFrame title={title} resource={shown} intro={batchId} />
}

/** Fetches all pages of a batch's certificate. */
async function certifyBatch(path: string, signal: AbortSignal): Promise<Shown> {
  const missing = { waiting: 0, stopped: 0, excluded: 0, gone: 0, left: 0 }
  const certificates: Certificate[] = []
  let after: number | null = null
  for (;;) {
    const query: string = after === null ? '' : `?after=${after}`
    const page: BatchCertificate = await read<BatchCertificate>(path + query, signal)
    for (const outcome of ['waiting', 'gone', 'stopped'] as const) missing[outcome] += page[outcome]
    certificates.push(...page.certificates)
    after = page.nextPlace
    if (after !== null) continue
    const { batch } = page
    if (batch.finishedAt === null || certificates.length === 0) return { certified: null, batch }
    const erasure = {
      isOfPerson: batch.subjects > 1,
      missing: { ...missing, left: batch.left ?? 0 },
      request: null,
    }
    return { certified: await certify(certificates, erasure), batch }
  }
}

async function certify(
  certificates: readonly Certificate[],
  erasure: PersonErasure | null,
): Promise<Certified> {
  const checked = await Promise.all(certificates.map(check))
  const records = certificates.map(({ record, entry: { index } }) => ({ record, index }))
  // Browsers cannot compute it without TLS.
  const digest = await digestEntries(records).catch(() => null)
  return { checked, digest, erasure }
}

async function check(certificate: Certificate): Promise<Checked> {
  return { certificate, verdict: await verifyCertificate(certificate) }
}

interface CertificateFrameProps {
  title: string
  intro?: string
  resource: Resource<Shown>
}

function CertificateFrame({ title, intro, resource }: CertificateFrameProps) {
  const profile = useResource<OrganisationProfile>(profilePath)
  const { certified = null } = resource.data ?? {}
  const certificates = certified?.checked.map(({ certificate }) => certificate) ?? []
  const receipts = certificates.flatMap(({ receipt, entry }) =>
    receipt === null ? [] : [{ number: entry.index + 1, receipt }],
  )
  return (
    <Page
      title={title}
      within="Erasures"
      above={{ to: '/console/erasures', title: 'Erasures' }}
      {...(intro !== undefined && { intro })}
      actions={
        certified && (
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
          {({ batch }) =>
            certified ? (
              <>
                <Loaded resource={profile} lines={12}>
                  {(data) => <Document certified={certified} profile={data} />}
                </Loaded>
                <ReceiptBox certificates={certificates} />
              </>
            ) : (
              batch && <CertificateProgress batch={batch} onStopped={resource.reload} />
            )
          }
        </Loaded>
      )}
    </Page>
  )
}

/** The certificate in the language of the address, or in that of the organisation. */
function Document({ certified, profile }: { certified: Certified; profile: OrganisationProfile }) {
  const { path } = useAddress()
  const [{ language: chosen }, setParams] = useSearchParams({ language: textParam })
  const language = languages.find(([each]) => each === chosen)?.[0] ?? profile.language
  return (
    <>
      <div class="sheet-language">
        <Choice
          label="Language of the certificate"
          value={language}
          choices={languages}
          onChange={(each) => setParams({ language: each })}
          isSmall
        />
      </div>
      <CertificateSheet {...{ certified, profile }} words={wordsOf(language)} address={path} />
    </>
  )
}

function saveReceipt({ number, receipt }: { number: number; receipt: string }): void {
  saveText(`receipt-${number}.txt`, receipt)
}
