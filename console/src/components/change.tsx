import { compare } from './days.ts'
import { formatShare } from './when.tsx'

interface ChangeProps {
  now: number
  before: number
}

/** The change of a figure since an earlier period: an arrow and a percentage, in words for screen readers. */
export function Change({ now, before }: ChangeProps) {
  const { way, share } = compare(now, before)
  if (way === 'none' || way === 'same') return <span class="change">{changeInWords({ now, before })}</span>
  return (
    <span class={`change ${way}`}>
      <span aria-hidden="true">{way === 'up' ? '▲' : '▼'}</span>
      <span class="visually-hidden">{way}</span> {formatShare(share)}
    </span>
  )
}

export function changeInWords({ now, before }: ChangeProps): string {
  const { way, share } = compare(now, before)
  if (way === 'none') return 'no data before'
  return way === 'same' ? 'no change' : `${way} ${formatShare(share)}`
}
