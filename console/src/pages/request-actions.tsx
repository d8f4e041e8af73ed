import { useState } from 'preact/hooks'
import { read } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { Menu, type MenuItem } from '../components/menu.tsx'
import { showFailure } from '../components/toasts.tsx'
import { certificateOf, exportAddress, isClosed } from '../requests.ts'
import { refresh } from '../resource.ts'
import { Link } from '../router.tsx'
import { save } from '../save.ts'
import { useMay } from '../session.tsx'
import type { Request, RequestPage } from '../types.ts'
import { CancelDialog, CloseDialog, ExtendDialog, RejectDialog } from './request-dialogs.tsx'
import { EraseRequestDialog, nothingTitle } from './request-erasure.tsx'

type Dialog = 'erase' | 'close' | 'extend' | 'reject' | 'cancel'

/** What the member can do with a request in its state. */
export function RequestActions({ page }: { page: RequestPage }) {
  return useMay('desk') ? <DeskActions page={page} /> : <CertificateLink page={page} isPrimary />
}

function DeskActions({ page }: { page: RequestPage }) {
  const { request } = page
  const hasExclusions = page.exclusions.length > 0
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const { kind, state, found, extendedAt } = request
  const items: MenuItem[] = []
  const add = (title: string, opened: Dialog, isRisky = false) =>
    items.push({ title, isRisky, onChoose: () => setDialog(opened) })
  if (!isClosed(request) && extendedAt === null) add('Extend', 'extend')
  if (state === 'open') add('Reject', 'reject')
  if (!isClosed(request)) add('Cancel', 'cancel', true)
  const dialogProps = { request, onClose: () => setDialog(null) }
  return (
    <>
      {state === 'open' && found.subjects > 0 && <ExportLink {...request} isPrimary={kind === 'access'} />}
      {state === 'open' && kind === 'access' && (
        <Button
          kind={found.subjects === 0 ? 'primary' : 'plain'}
          icon="check"
          onClick={() => setDialog('close')}
        >
          Close as answered
        </Button>
      )}
      {state === 'open' && kind === 'erasure' && request.approval === null && (
        <Button kind="danger" icon="trash" onClick={() => setDialog('erase')}>
          {found.subjects === 0 ? nothingTitle(hasExclusions) : 'Erase everything found'}
        </Button>
      )}
      <CertificateLink page={page} isPrimary />
      {items.length > 0 && <Menu label="More actions" items={items} />}
      {dialog === 'erase' && <EraseRequestDialog {...dialogProps} hasExclusions={hasExclusions} />}
      {dialog === 'close' && <CloseDialog {...dialogProps} hasExclusions={hasExclusions} />}
      {dialog === 'extend' && <ExtendDialog {...dialogProps} />}
      {dialog === 'reject' && <RejectDialog {...dialogProps} />}
      {dialog === 'cancel' && <CancelDialog {...dialogProps} />}
    </>
  )
}

const exportShownMs = 1_000

interface LinkProps {
  isPrimary?: boolean
}

/** Downloads what is held about the person, as a ZIP. */
export function ExportLink({ requestId, isPrimary = false }: LinkProps & Pick<Request, 'requestId'>) {
  async function download(): Promise<void> {
    // A download that is refused shows nothing, so the proof of identity comes first.
    await read('/verification')
    save(exportAddress(requestId))
    // The browser does not tell when the download has begun, which is an entry of the story.
    setTimeout(() => void refresh(`/requests/${requestId}`), exportShownMs)
  }
  return (
    <a
      class={isPrimary ? 'button primary' : 'button plain'}
      href={exportAddress(requestId)}
      download
      onClick={(event) => {
        event.preventDefault()
        void download().catch(showFailure)
      }}
    >
      <Icon name="download" />
      <span>Export copy (ZIP)</span>
    </a>
  )
}

/** Leads to the certificate, once there is one. */
export function CertificateLink({ page, isPrimary = false }: LinkProps & { page: RequestPage }) {
  const address = certificateOf(page)
  if (address === null) return null
  return (
    <Link to={address} class={isPrimary ? 'button primary' : 'button plain'}>
      <Icon name="erasures" />
      <span>Certificate</span>
    </Link>
  )
}
