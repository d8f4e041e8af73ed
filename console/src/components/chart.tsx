import type { Totals } from '../types.ts'
import { type Bar, toBars } from './days.ts'
import { counted, formatDay } from './when.tsx'

interface ChartProps {
  totals: Totals
  retentionDays: number
}

const [width, height] = [600, 56]

/**
 * Daily totals as bars. The line below them is the retention window: solid where visitor data is kept, dotted
 * where only the totals are left.
 */
export function Chart({ totals, retentionDays }: ChartProps) {
  const { bars, windowAt, windowFrom } = toBars(totals, retentionDays)
  const highest = Math.max(1, ...bars.map((bar) => bar.sessions))
  const step = width / bars.length
  const kept = windowAt === null ? 0 : windowAt * width
  const total = bars.reduce((sum, bar) => sum + bar.sessions, 0)
  const [first, last] = [bars[0]?.from ?? totals.today, totals.today]
  return (
    <figure class="chart">
      {total === 0 && <span class="chart-none">No data yet</span>}
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${counted(total, 'session')} from ${formatDay(first)} to ${formatDay(last)}. Visitor data is available from ${formatDay(windowFrom)}.`}
      >
        {bars.map((bar, i) => (
          <rect
            key={bar.from}
            class={(i + 1) * step <= kept ? 'bar aged' : 'bar'}
            x={i * step}
            width={step * (step > 5 ? 0.8 : 0.86)}
            y={height - heightOf(bar.sessions, highest, height)}
            height={heightOf(bar.sessions, highest, height)}
          >
            <title>{titleOf(bar)}</title>
          </rect>
        ))}
      </svg>
      <svg
        class="window"
        viewBox={`0 0 ${width} 10`}
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        {kept > 0 && <line class="gone" x1="0" x2={kept} y1="5" y2="5" />}
        <line class="kept" x1={kept} x2={width} y1="5" y2="5" />
        {kept > 0 && <line class="edge" x1={kept} x2={kept} y1="0" y2="10" />}
      </svg>
      <figcaption>
        <span>{formatDay(first)}</span>
        <span class="window-note">
          {retentionDays}-day retention from {formatDay(windowFrom)}
        </span>
        <span>today</span>
      </figcaption>
    </figure>
  )
}

/** A day with any data stays visible, however high the highest bar is. */
function heightOf(value: number, highest: number, height: number): number {
  return value === 0 ? 0 : Math.max(1.5, (value / highest) * (height - 2))
}

function titleOf({ from, to, sessions, events }: Bar): string {
  const days = from === to ? formatDay(from) : `${formatDay(from)} – ${formatDay(to)}`
  return `${days}: ${counted(sessions, 'session')}, ${counted(events, 'event')}`
}
