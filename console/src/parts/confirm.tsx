import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useForm } from '../form.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Failure, Field } from './field.tsx'

interface ConfirmProps {
  title: string
  children: ComponentChildren
  /** What the button says that does it. */
  action: string
  kind?: 'primary' | 'danger'
  /** What must be typed before it can be done, and what that is. */
  typing?: { what: string; text: string; field: string }
  onConfirm(typed: string): Promise<void>
  onClose(): void
}

/** Asks before something that cannot be taken back; for the gravest, only who has typed what it is about gets through. */
export function Confirm({
  title,
  children,
  action,
  kind = 'primary',
  typing,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const [typed, setTyped] = useState('')
  const form = useForm()
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={form.submit(() => onConfirm(typed))}>
        <div class="prose">{children}</div>
        {typing && (
          <Field
            label={`Type the ${typing.what} to confirm`}
            hint={<code class="wrap">{typing.text}</code>}
            value={typed}
            onInput={setTyped}
            problem={form.fields[typing.field]}
            hasFocus
            isCode
          />
        )}
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            kind={kind}
            isBusy={form.isBusy}
            isDisabled={typing !== undefined && typed !== typing.text}
          >
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
