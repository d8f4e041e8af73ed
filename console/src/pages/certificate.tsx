import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Choice } from '../components/field.tsx'
import { NotFoundPage, Page } from '../components/page.tsx'
import { Empty, LoadError, Loaded, MissingRequest } from '../components/states.tsx'
import { certificateAddress } from '../erasure.ts'
import { languages } from '../replies.ts'
import { groupAddress, requestAddress } from '../requests.ts'
import { type Resource, useFetched, useResource } from '../resource.ts'
import { Link, navigate, Redirect, useAddress } from '../router.tsx'
import { textParam, useSearchParams } from '../search-params.ts'
import { useSession } from '../session.tsx'
import type { OrganisationProfile, RequestCertificate } from '../types.ts'
import { CertificateSheet } from './certificate-sheet.tsx'
import { wordsOf } from './certificate-texts.ts'
import type { Certified } from './certified.ts'
import { certifyEntries, certifyRequest, type Shown } from './fetch-certificate.ts'
import { profilePath } from './profile-card.tsx'
import { ReceiptBox, saveText } from './receipt-box.tsx'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** A longer list of entries is not a certificate. */
const maxNumbers = 50
/** How often the page polls an erasure that is running. */
const pollIntervalMs = 1_000

/**
 * A certificate: of ledger entries by their numbers, `13` or `13,14,15`, or of a person, by the request that
 * erased them. Batches are now requests with one reference.
 */
export function CertificatePage({ of }: { of: string }) {
  if (uuid.test(of)) return <RequestCertificatePage key={of} requestId={of} />
  if (/^batch_\w+$/.test(of)) return <Redirect to={groupAddress(of)} />
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
  const path = `/erasures/certificate?index=${indexes.join(',')}`
  const shown = useFetched<Shown>(path, (_, signal) => certifyEntries(indexes, signal))
  const title = `Certificate No. ${indexes.map((index) => index + 1).join(', ')}`
  return <CertificateFrame title={title} resource={shown} />
}

function RequestCertificatePage({ requestId }: { requestId: string }) {
  const shown = useFetched<Shown>(`/requests/${requestId}/certificate`, certifyRequest, {
    pollMs: (data) => (data?.request?.state === 'running' ? pollIntervalMs : false),
  })
  // It may have been deleted.
  const above =
    shown.error?.status === 404 ? erasuresPage : { to: requestAddress(requestId), title: 'Request' }
  const reference = shown.data?.request?.reference ?? null
  return (
    <CertificateFrame
      title="Certificate"
      resource={shown}
      above={above}
      missing={<MissingRequest />}
      {...(reference !== null && { intro: reference })}
    />
  )
}

interface CertificateFrameProps {
  title: string
  intro?: string
  above?: { to: string; title: string }
  /** Why it may not exist. */
  missing?: ComponentChildren
  resource: Resource<Shown>
}

const erasuresPage = { to: '/console/erasures', title: 'Erasures' }

function CertificateFrame({ title, intro, above = erasuresPage, missing, resource }: CertificateFrameProps) {
  const profile = useResource<OrganisationProfile>(profilePath)
  const { certified = null } = resource.data ?? {}
  const certificates = certified?.checked.map(({ certificate }) => certificate) ?? []
  const receipts = certificates.flatMap(({ receipt, entry }) =>
    receipt === null ? [] : [{ number: entry.index + 1, receipt }],
  )
  return (
    <Page
      title={title}
      within={above.title}
      above={above}
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
        <LoadError error={resource.error} onRetry={resource.reload} missing={missing} />
      ) : (
        <Loaded resource={resource} lines={12}>
          {({ request }) =>
            certified ? (
              <>
                <Loaded resource={profile} lines={12}>
                  {(data) => <Document certified={certified} profile={data} />}
                </Loaded>
                <ReceiptBox certificates={certificates} />
              </>
            ) : (
              request && <NoCertificate request={request} />
            )
          }
        </Loaded>
      )}
    </Page>
  )
}

/** The certificate in the language of the address, or in that of the member or the organisation. */
function Document({ certified, profile }: { certified: Certified; profile: OrganisationProfile }) {
  const { path } = useAddress()
  const [{ language: chosen }, setParams] = useSearchParams({ language: textParam })
  const { language: own } = useSession()
  const language = languages.find(([each]) => each === chosen)?.[0] ?? own ?? profile.language
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

function NoCertificate({ request: { requestId, closedAt } }: { request: RequestCertificate['request'] }) {
  return (
    <Empty icon="erasures" title={closedAt === null ? 'No certificate yet' : 'No certificate'}>
      <p>
        {closedAt === null
          ? 'The certificate is issued when the request is closed.'
          : 'Nothing was erased for this request, and no search proved that nothing is held.'}
      </p>
      <p>
        <Link to={`/console/requests/${requestId}`}>Go to the request</Link>
      </p>
    </Empty>
  )
}

function saveReceipt({ number, receipt }: { number: number; receipt: string }): void {
  saveText(`receipt-${number}.txt`, receipt)
}
