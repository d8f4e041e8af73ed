import { useEffect, useState } from 'preact/hooks'
import { deadlineOf } from '../due.ts'
import type { Request } from '../types.ts'
import { Icon, type IconName } from './icon.tsx'

const radius = 16
const around = 2 * Math.PI * radius
const closedIcons = { done: 'check', rejected: 'close', cancelled: 'close' } as const satisfies Partial<
  Record<Request['state'], IconName>
>

/**
 * A ring that fills until a request is due, around the days that are left. Decorative: a text says it.
 */
export function DueRing({ request, now }: { request: Request; now: number }) {
  const { state } = request
  if (state !== 'open' && state !== 'running') {
    return (
      <span class={`due-ring ${state}`} aria-hidden="true">
        <Icon name={closedIcons[state]} />
      </span>
    )
  }
  const { urgency, days, share } = deadlineOf(request, now)
  return (
    <span class={`due-ring ${urgency}`} aria-hidden="true">
      <svg viewBox="0 0 36 36" aria-hidden="true" focusable="false">
        <circle cx="18" cy="18" r={radius} />
        <circle
          class="passed"
          cx="18"
          cy="18"
          r={radius}
          // A request that has just arrived shows that the ring will fill.
          stroke-dasharray={`${Math.max(0.02, share) * around} ${around}`}
        />
      </svg>
      <span class={days > 99 ? 'many' : undefined}>
        {urgency === 'overdue' && days > 0 ? `−${Math.min(days, 999)}` : days}
      </span>
    </span>
  )
}

const tickMs = 60_000

/** The current time, which advances every minute: a page may be open overnight. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs)
    return () => clearInterval(timer)
  }, [])
  return now
}
