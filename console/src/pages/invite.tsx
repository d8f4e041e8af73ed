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
          hint="You get a link to hand over. No mail is sent."
          hasFocus
        />
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            Make the link
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function ShowLink({ invited, onClose }: { invited: Invitation; onClose(): void }) {
  return (
    <Dialog title={`A link for ${invited.member.email}`} onClose={onClose} isFirm>
      <div class="prose">
        <p>
          Hand it over in private. It sets a password, works once, until <When at={invited.expiresAt} />, and{' '}
          <strong>is shown this once</strong>.
        </p>
      </div>
      <p class="label">Link</p>
      <Copy label="Link" text={`${location.origin}/console/join#${invited.token}`} hasFocus />
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          I have it
        </Button>
      </footer>
    </Dialog>
  )
}
