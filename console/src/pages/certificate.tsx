import { useState } from 'preact/hooks'
import { read } from '../api.ts'
import { type FreshErasure, takeFresh } from '../erased.ts'
import { Button } from '../parts/button.tsx'
import { Page } from '../parts/page.tsx'
import { Broken, Loaded } from '../parts/states.tsx'
import { useFetched } from '../resource.ts'
import { saveText } from '../save-text.ts'
import type { Certificate } from '../types.ts'
import { type Checked, verifyCertificate } from '../verify.ts'
import { CertificateSheet } from './certificate-sheet.tsx'
import { NotFoundPage } from './not-found.tsx'
import { ReceiptBox } from './receipt-box.tsx'

/** More than this were not erased together. */
const mostIndexes = 50

/** A certificate of one erasure, or of several that were done together: `12`, `12,13,14`. */
export function CertificatePage({ indexes: text }: { indexes: string }) {
  const indexes = [...new Set(text.split(',').map(Number))]
  if (!/^\d{1,15}(,\d{1,15})*$/.test(text) || indexes.length > mostIndexes) return <NotFoundPage />
  return <Certificates key={text} indexes={indexes} />
}

function Certificates({ indexes }: { indexes: number[] }) {
  // Whoever was just erased is known here as long as the page is open, and nowhere afterwards.
  const [fresh] = useState(() => new Map(indexes.map((index) => [index, takeFresh(index)])))
  const checked = useFetched(`/erasures/certificate?index=${indexes.join(',')}`, (_, signal) =>
    Promise.all(indexes.map((index) => check(index, fresh.get(index) ?? null, signal))),
  )
  const title = `Certificate No. ${indexes.join(', ')}`
  const receipts = [...fresh].flatMap(([index, each]) => (each ? [{ index, receipt: each.receipt }] : []))
  return (
    <Page
      title={title}
      within="Erasures"
      above={{ to: '/console/erasures', title: 'Erasures' }}
      actions={
        <>
          {receipts.length > 0 && (
            <Button icon="download" onClick={() => receipts.forEach(saveReceipt)}>
              {receipts.length === 1 ? 'Download the receipt' : 'Download the receipts'}
            </Button>
          )}
          <Button kind="primary" icon="print" onClick={() => print()}>
            Print or save as PDF
          </Button>
        </>
      }
    >
      {checked.error ? (
        <Broken error={checked.error} onRetry={checked.reload} />
      ) : (
        <Loaded resource={checked} lines={12}>
          {(all) => (
            <>
              <CertificateSheet checked={all} />
              {all.map(({ certificate }) => (
                <ReceiptBox
                  key={certificate.erasure.index}
                  certificate={certificate}
                  isAlone={all.length === 1}
                />
              ))}
            </>
          )}
        </Loaded>
      )}
    </Page>
  )
}

async function check(index: number, fresh: FreshErasure | null, signal: AbortSignal): Promise<Checked> {
  const certificate = await read<Certificate>(`/erasures/certificate?index=${index}`, signal)
  return { certificate, verdict: await verifyCertificate(certificate, fresh) }
}

function saveReceipt({ index, receipt }: { index: number; receipt: string }): void {
  saveText(`erasure-receipt-${index}.txt`, receipt)
}
