import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api.ts'
import { Icon } from './icon.tsx'

interface Toast {
  id: number
  text: string
  isFailure: boolean
}

let lastId = 0
let show = (_toast: Toast) => {}

/** Shows a message for a few seconds, and announces it to screen readers. */
export function showToast(text: string): void {
  show({ id: ++lastId, text, isFailure: false })
}

/** Shows an error for a few seconds. */
export function showFailure(error: unknown): void {
  show({ id: ++lastId, text: textOf(error), isFailure: true })
}

function textOf(error: unknown): string {
  if (error instanceof ApiError) return error.texts.join(' ')
  return error instanceof Error ? error.message : 'Something went wrong'
}

const shownMs = 5_000
/** Errors take longer to read. */
const failureShownMs = 12_000

/**
 * The container of toasts. It is always rendered, because screen readers ignore live regions that are added
 * with their content.
 */
export function Toasts() {
  const [toasts, setToasts] = useState<Toast[]>([])
  useEffect(() => {
    show = (toast) => {
      // A repeated message only restarts its timer.
      setToasts((all) => [...all.filter(({ text }) => text !== toast.text).slice(-2), toast])
      setTimeout(
        () => setToasts((all) => all.filter(({ id }) => id !== toast.id)),
        toast.isFailure ? failureShownMs : shownMs,
      )
    }
    return () => {
      show = () => {}
    }
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, isFailure }) => (
        <p key={id} class={isFailure ? 'toast failed' : 'toast'}>
          <Icon name={isFailure ? 'alert' : 'check'} /> {text}
        </p>
      ))}
    </div>
  )
}
