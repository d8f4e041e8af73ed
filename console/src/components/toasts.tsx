import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface Toast {
  id: number
  text: string
  isFailure: boolean
}

let lastId = 0
let show = (_toast: Toast) => {}

/** Says something in passing, to eyes and ears. */
export function showToast(text: string): void {
  show({ id: ++lastId, text, isFailure: false })
}

/** Says in passing that something went wrong. */
export function showFailure(error: unknown): void {
  const text = error instanceof Error ? error.message : 'Something went wrong'
  show({ id: ++lastId, text, isFailure: true })
}

const shownMs = 5_000
/** What went wrong takes longer to read, and is worth it. */
const failureShownMs = 12_000

/** Where what was told is shown. There is one of it, and it is always there: what comes later would not be read out. */
export function Toasts() {
  const [toasts, setToasts] = useState<Toast[]>([])
  useEffect(() => {
    show = (toast) => {
      // The same once more only begins anew.
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
