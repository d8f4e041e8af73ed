import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { focusWithin } from '../focus.ts'
import { Icon } from './icon.tsx'

interface DialogProps {
  title: string
  children: ComponentChildren
  onClose(): void
  /** Whether only a button inside closes it: what it shows is not shown again. */
  isFirm?: boolean
  /** Whether nothing of the page may be seen behind it. */
  isCurtain?: boolean
}

/** A dialog over the page. The browser keeps the focus inside, and gives it back afterwards. */
export function Dialog({ title, children, onClose, isFirm = false, isCurtain = false }: DialogProps) {
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
      class={isCurtain ? 'dialog curtain' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        if (!isFirm) onClose()
      }}
      onKeyDown={(event) => {
        // A browser lets a second Escape through even where the first was refused.
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
    </dialog>
  )
}
