import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useForm } from '../form.ts'
import { Button } from './button.tsx'
import { Failure, Field, focusWithin } from './field.tsx'
import { Icon } from './icon.tsx'
import { isTyped } from './invisible.ts'
import { Toasts } from './toasts.tsx'
import { Id } from './values.tsx'

interface DialogProps {
  title: string
  children: ComponentChildren
  onClose(): void
  /** Whether only a button inside closes it, because its content is shown only once. */
  isFirm?: boolean
  /** Whether the page behind it is hidden. */
  isCurtain?: boolean
  isWide?: boolean
}

/** A modal dialog. The focus returns to where it was when the dialog closes. */
export function Dialog({ title, children, onClose, isFirm = false, isCurtain, isWide }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useLayoutEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    dialog?.showModal()
    focusWithin(dialog)
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={['dialog', isCurtain && 'curtain', isWide && 'wide'].filter(Boolean).join(' ')}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        if (!isFirm) onClose()
      }}
      onKeyDown={(event) => {
        // Browsers close a dialog on the second Escape even if the first was prevented.
        if (event.key === 'Escape' && isFirm) event.preventDefault()
      }}
    >
      <header class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        {!isFirm && (
          <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </header>
      {children}
      <Toasts />
    </dialog>
  )
}

interface ConfirmProps {
  title: string
  children: ComponentChildren
  /** The text of the button that confirms. */
  action: string
  kind?: 'primary' | 'danger'
  /**
   * The text to type before confirming, without its invisible characters, and its name. `onConfirm` gets the
   * original text.
   */
  typing?: { what: string; text: string; field: string }
  /** Whether it cannot be confirmed, whatever is typed. */
  isDisabled?: boolean
  onConfirm(typed: string): Promise<void>
  onClose(): void
}

/** Asks for confirmation, and for a typed text before the gravest actions. */
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
  const form = useForm(...(typing ? [typing.field] : []))
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

interface NameDialogProps {
  title: string
  action: string
  name?: string
  hint?: string
  onSave(name: string): Promise<void>
  onClose(): void
}

/** Asks for the name of something. */
export function NameDialog(props: NameDialogProps) {
  const { title, action, name: before = '', hint = 'The ID does not change.', onSave, onClose } = props
  const [name, setName] = useState(before)
  const form = useForm('name')
  return (
    <Dialog title={title} onClose={onClose}>
      <form noValidate onSubmit={form.submit(() => onSave(name))}>
        <Field label="Name" value={name} onInput={setName} problem={form.fields.name} hint={hint} hasFocus />
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
