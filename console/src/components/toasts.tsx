import { useLayoutEffect, useState } from 'preact/hooks'
import { ApiError } from '../api.ts'
import { Icon } from './icon.tsx'

interface Toast {
  id: number
  text: string
  isFailure: boolean
}

let lastId = 0
let toasts: readonly Toast[] = []
/** What shows them: the containers that are rendered, that of the top dialog last. */
const containers: ((toasts: readonly Toast[]) => void)[] = []

function show(toast: Toast): void {
  // A repeated message only restarts its timer.
  update([...toasts.filter(({ text }) => text !== toast.text).slice(-2), toast])
  const remove = () => update(toasts.filter(({ id }) => id !== toast.id))
  setTimeout(remove, toast.isFailure ? failureShownMs : shownMs)
}

function update(next: readonly Toast[]): void {
  toasts = next
  for (const [i, setShown] of containers.entries()) setShown(i === containers.length - 1 ? toasts : [])
}

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
 * A container of toasts. It is always rendered, because screen readers ignore live regions that are added with
 * their content. Each modal dialog has its own, because everything outside of it is behind it and inert.
 */
export function Toasts() {
  const [shown, setShown] = useState<readonly Toast[]>([])
  useLayoutEffect(() => {
    containers.push(setShown)
    update(toasts)
    return () => {
      containers.splice(containers.indexOf(setShown), 1)
      update(toasts)
    }
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, isFailure }) => (
        <p key={id} class={isFailure ? 'toast failed' : 'toast'}>
          <Icon name={isFailure ? 'alert' : 'check'} /> {text}
        </p>
      ))}
    </div>
  )
}
