import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface Toast {
  id: number
  text: string
}

let lastId = 0
let show = (_toast: Toast) => {}

/** Says something in passing, to eyes and ears. */
export function tell(text: string): void {
  show({ id: ++lastId, text })
}

const shownMs = 5_000

/** Where what was told is shown. There is one of it, and it is always there: what comes later would not be read out. */
export function Toasts() {
  const [toasts, setToasts] = useState<Toast[]>([])
  useEffect(() => {
    show = (toast) => {
      setToasts((all) => [...all.slice(-2), toast])
      setTimeout(() => setToasts((all) => all.filter(({ id }) => id !== toast.id)), shownMs)
    }
    return () => {
      show = () => {}
    }
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text }) => (
        <p key={id} class="toast">
          <Icon name="check" /> {text}
        </p>
      ))}
    </div>
  )
}
