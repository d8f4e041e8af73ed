import { toBars } from '../parts/bars.ts'
import { counted, formatDay } from '../parts/when.tsx'
import type { SubjectDays } from '../types.ts'

const [width, height] = [600, 44]

interface DayStripProps {
  days: SubjectDays
  today: string
  retentionDays: number
  /** The day that the story begins with. */
  chosen: string
  onChoose(day: string): void
}

/** When a subject was here: a bar for each day, or a few days, on which sessions began. Choosing one leads the story there. */
export function DayStrip({ days: { days, hasMore }, today, retentionDays, chosen, onChoose }: DayStripProps) {
  const { bars } = toBars({ today, days }, retentionDays)
  const highest = Math.max(1, ...bars.map(({ events, sessions }) => events + sessions))
  const step = width / bars.length
  const [first, last] = [days[0]?.day ?? today, days.at(-1)?.day ?? today]
  return (
    <figure class="strip">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Active on ${counted(days.length, 'day')} from ${formatDay(first)} to ${formatDay(last)}`}
      >
        {bars.map(({ from, to, sessions, events }, i) => {
          // Roots, so that a quiet day is seen beside a busy one.
          const size = Math.max(3, Math.sqrt((sessions + events) / highest) * height)
          return sessions > 0 ? (
            // biome-ignore lint/a11y/noStaticElementInteractions: the field below does the same for every hand
            <rect
              key={from}
              class={chosen >= from && chosen <= to ? 'bar chosen' : 'bar'}
              x={i * step}
              width={Math.max(step * 0.8, 1.5)}
              y={height - size}
              height={size}
              onClick={() => onChoose(to)}
            >
              <title>{`${formatDay(from)}: ${counted(sessions, 'session')}, ${counted(events, 'event')}`}</title>
            </rect>
          ) : null
        })}
        <line x1="0" x2={width} y1={height} y2={height} />
      </svg>
      <figcaption>
        <span>{formatDay(bars[0]?.from ?? first)}</span>
        {hasMore && <span>newest 5,000 sessions</span>}
        <span>today</span>
      </figcaption>
      <p class="jump">
        <label>
          Activity up to{' '}
          <input
            type="date"
            value={chosen}
            min={first}
            max={today}
            onChange={(event) => onChoose(event.currentTarget.value)}
          />
        </label>
        {chosen !== '' && (
          <button type="button" class="button quiet" onClick={() => onChoose('')}>
            Show newest
          </button>
        )}
      </p>
    </figure>
  )
}
