import { Confirm } from '../components/dialog.tsx'
import { JobPace } from '../components/job-pace.tsx'
import { showToast } from '../components/toasts.tsx'
import { counted, formatNumber } from '../components/when.tsx'
import { changeRequest } from '../requests.ts'
import type { Request } from '../types.ts'
import { ApprovalHint } from './request-approval.tsx'
import type { ClosingDialogProps } from './request-dialogs.tsx'

/** Confirms an erasure by the number of records. */
export function EraseRequestDialog({ request, hasExclusions, onClose }: ClosingDialogProps) {
  const { requestId, found } = request
  const isEmpty = found.subjects === 0
  return (
    <Confirm
      title={isEmpty ? nothingTitle(hasExclusions) : `Erase ${counted(found.subjects, 'record')}`}
      action={isEmpty ? 'Check and confirm' : 'Erase for good'}
      kind="danger"
      typing={{ what: 'the number of records', text: String(found.subjects), field: 'subjects' }}
      onConfirm={async () => {
        const { request } = await changeRequest(requestId, 'erase', { subjects: found.subjects })
        if (request.approval) showToast('Waiting for another member')
        else showToast(isEmpty ? 'Checking all trackers' : 'Erasure started')
        onClose()
      }}
      onClose={onClose}
    >
      {isEmpty ? (
        <p>
          {hasExclusions && 'No other records were found. Records that you excluded keep their data. '}
          Lethe searches all trackers once more.
          {!hasExclusions && ' If nothing is held, the certificate proves it.'} If this person has come back,
          their data is erased.
        </p>
      ) : (
        <p>
          {counted(found.sessions, 'session')} and {counted(found.events, 'event')} are deleted from all
          trackers, including data that your plan hides. Records that you excluded keep their data.
        </p>
      )}
      <p>
        This cannot be undone. Daily totals are kept; they cannot be traced to a person. The service continues
        if you close this page, and searches once more at the end. Then the person’s identifiers and the notes
        are deleted from the request{!(isEmpty && hasExclusions) && ', and you get a certificate'}.
      </p>
      <ApprovalHint />
    </Confirm>
  )
}

/** What a member confirms about a person without records to erase. */
export function nothingTitle(hasExclusions: boolean): string {
  return hasExclusions ? 'Confirm that nothing else is held' : 'Confirm that nothing is held'
}

/** How far a running erasure is. */
export function ErasureProgress({ request }: { request: Request }) {
  const { found, erased, resumesAt, state } = request
  const total = Math.max(found.subjects, erased.subjects)
  return (
    <>
      <p id="erasure-progress" role="status">
        {formatNumber(erased.subjects)} of {counted(total, 'record')} erased
      </p>
      <progress max={Math.max(1, total)} value={erased.subjects} aria-labelledby="erasure-progress" />
      <JobPace done={erased.subjects} total={total} isRunning={state === 'running'} resumesAt={resumesAt} />
      <p class="muted">
        {resumesAt === null
          ? 'You can close this page. The service continues, also after a restart.'
          : 'The erasure budget is used up. The service continues automatically.'}
      </p>
    </>
  )
}
