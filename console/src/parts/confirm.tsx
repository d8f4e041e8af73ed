import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useForm } from '../form.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Failure, Field } from './field.tsx'
import { Id } from './id.tsx'
import { isTyped } from './invisible.ts'

interface ConfirmProps {
  title: string
  children: ComponentChildren
  /** What the button says that does it. */
  action: string
  kind?: 'primary' | 'danger'
  /** What must be typed before it can be done, as far as it can be seen, and what that is. It is handed on as it stands. */
  typing?: { what: string; text: string; field: string }
  /** Whether it cannot be done, whatever is typed. */
  isDisabled?: boolean
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
  isDisabled = false,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const [typed, setTyped] = useState('')
  const form = useForm()
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={form.submit(() => onConfirm(typing?.text ?? ''))}>
        <div class="prose">{children}</div>
        {typing && (
          <Field
            label={`Type ${typing.what} to confirm`}
            hint={
              <code class="wrap">
                <Id text={typing.text} />
              </code>
            }
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
            isDisabled={isDisabled || (typing !== undefined && !isTyped(typed, typing.text))}
          >
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
