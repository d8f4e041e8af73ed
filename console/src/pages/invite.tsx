import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { useForm } from '../form.ts'
import { Button } from '../parts/button.tsx'
import { Copy } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure, Field } from '../parts/field.tsx'
import { When } from '../parts/when.tsx'
import type { Invitation } from '../types.ts'

export function Invite({ onInvited, onClose }: { onInvited(invited: Invitation): void; onClose(): void }) {
  const [email, setEmail] = useState('')
  const form = useForm()
  return (
    <Dialog title="Invite a member" onClose={onClose}>
      <form
        noValidate
        onSubmit={form.submit(async () => onInvited(await change<Invitation>('/members', { email })))}
      >
        <Field
          label="E-mail address"
          type="email"
          value={email}
          onInput={setEmail}
          problem={form.fields.email}
          hint="You get a link to share. No e-mail is sent."
          hasFocus
        />
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            Create the link
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function ShowLink({ invited, onClose }: { invited: Invitation; onClose(): void }) {
  return (
    <Dialog title={`Link for ${invited.member.email}`} onClose={onClose} isFirm>
      <div class="prose">
        <p>
          Share this link in private. It lets the member set a password, works once and expires on{' '}
          <When at={invited.expiresAt} />. <strong>It is shown only once.</strong>
        </p>
      </div>
      <p class="label">Link</p>
      <Copy label="Link" text={`${location.origin}/console/join#${invited.token}`} hasFocus />
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          I have copied the link
        </Button>
      </footer>
    </Dialog>
  )
}
