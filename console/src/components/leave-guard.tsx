import { useLayoutEffect, useState } from 'preact/hooks'
import { guardPage } from '../router.tsx'
import { Confirm } from './dialog.tsx'

/** Asks before a page with unsaved changes is left. */
export function LeaveGuard() {
  const [asked, setAsked] = useState<{ leave(): void } | null>(null)
  // Before the browser handles anything else: a link may be followed right after a key.
  useLayoutEffect(() => {
    const warn = (event: Event) => event.preventDefault()
    const stop = guardPage((leave) => setAsked({ leave }))
    addEventListener('beforeunload', warn)
    return () => {
      stop()
      removeEventListener('beforeunload', warn)
    }
  }, [])
  if (!asked) return null
  return (
    <Confirm
      title="Discard unsaved changes"
      action="Discard changes"
      kind="danger"
      onConfirm={async () => {
        setAsked(null)
        asked.leave()
      }}
      onClose={() => setAsked(null)}
    >
      <p>
        Your changes have not been saved. If you leave this page, they are lost. What was saved before does
        not change.
      </p>
    </Confirm>
  )
}
