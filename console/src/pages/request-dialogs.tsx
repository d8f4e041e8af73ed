import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Confirm, Dialog } from '../components/dialog.tsx'
import { Failure } from '../components/field.tsx'
import { TextArea } from '../components/text-area.tsx'
import { showToast } from '../components/toasts.tsx'
import { When } from '../components/when.tsx'
import { useForm } from '../form.ts'
import { changeRequest } from '../requests.ts'
import type { Request } from '../types.ts'

export interface RequestDialogProps {
  request: Request
  onClose(): void
}

export function ExtendDialog({ request, onClose }: RequestDialogProps) {
  return (
    <ReasonDialog
      title="Extend this request"
      action="Extend by two months"
      hint="For example: the request is complex, or there are many of them. The reply can contain it."
      onSave={async (reason) => {
        await changeRequest(request.requestId, 'extend', { reason })
        showToast('Request extended')
      }}
      onClose={onClose}
    >
      <p>
        It is due on <When at={request.dueAt} as="day" />. You get two more months, once.
      </p>
      <p>
        The person is not told automatically. Tell them within the first month, with the reason: the reply
        below has a text for it.
      </p>
    </ReasonDialog>
  )
}

export function RejectDialog({ request, onClose }: RequestDialogProps) {
  return (
    <ReasonDialog
      title="Reject this request"
      action="Reject the request"
      isRisky
      hint="For example: you could not confirm who asked. It is kept with the request, so name nobody."
      onSave={async (reason) => {
        await changeRequest(request.requestId, 'reject', { reason })
        showToast('Request rejected')
      }}
      onClose={onClose}
    >
      <p>
        The request is closed, and cannot be opened again. The person’s identifiers and the notes are deleted
        from the request.
      </p>
      <p>
        The person’s data is kept: nothing is exported or erased. Nothing is sent either; copy the reply and
        send it.
      </p>
    </ReasonDialog>
  )
}

interface ReasonDialogProps {
  title: string
  action: string
  hint: string
  isRisky?: boolean
  children: ComponentChildren
  onSave(reason: string): Promise<void>
  onClose(): void
}

/** Asks for a reason. */
export function ReasonDialog(props: ReasonDialogProps) {
  const { title, action, hint, isRisky = false, children, onSave, onClose } = props
  const [reason, setReason] = useState('')
  const form = useForm('reason')
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        noValidate
        onSubmit={form.submit(async () => {
          await onSave(reason.trim())
          onClose()
        })}
      >
        <div class="prose">{children}</div>
        <TextArea
          label="Reason"
          value={reason}
          rows={3}
          onInput={setReason}
          problem={form.fields.reason}
          hint={hint}
          hasFocus
        />
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            kind={isRisky ? 'danger' : 'primary'}
            isBusy={form.isBusy}
            isDisabled={reason.trim() === ''}
          >
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function CancelDialog({ request, onClose }: RequestDialogProps) {
  return (
    <Confirm
      title="Cancel this request"
      action="Cancel the request"
      kind="danger"
      onConfirm={async () => {
        await changeRequest(request.requestId, 'cancel')
        showToast('Request cancelled')
        onClose()
      }}
      onClose={onClose}
    >
      <p>For a request that was withdrawn or entered by mistake. It is closed, and cannot be opened again.</p>
      <p>
        {request.state === 'running'
          ? 'Records that are not yet erased keep their data. Erased data cannot be restored; the certificate says what is missing.'
          : 'The person’s data is kept: nothing is exported or erased.'}{' '}
        The person’s identifiers and the notes are deleted from the request.
      </p>
    </Confirm>
  )
}

export interface ClosingDialogProps extends RequestDialogProps {
  /** An identifier of an excluded record is held. */
  hasExclusions: boolean
}

export function CloseDialog({ request, hasExclusions, onClose }: ClosingDialogProps) {
  const isEmpty = request.found.subjects === 0
  const isProven = request.namesIdentifiers && !hasExclusions
  return (
    <Confirm
      title="Close as answered"
      action="Close the request"
      onConfirm={async () => {
        await changeRequest(request.requestId, 'close')
        showToast('Request closed')
        onClose()
      }}
      onClose={onClose}
    >
      <p>
        {isEmpty
          ? `${hasExclusions ? 'No other records were found.' : 'Nothing is held about this person.'} Lethe checks once more${isProven ? ', and proves it with a certificate' : ''}.`
          : 'Do this once you have sent the copy. Afterwards, it can no longer be exported from here.'}
      </p>
      <p>
        The person’s identifiers and the notes are deleted from the request. The person’s data is kept.
        Nothing is sent.
      </p>
    </Confirm>
  )
}
