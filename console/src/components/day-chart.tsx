import { useState } from 'preact/hooks'
import { axisOf, type Bin, type DayValue, positionOf, toBins } from './days.ts'
import { formatCompact, formatDay } from './when.tsx'

interface DayChartProps {
  today: string
  days: readonly DayValue[]
  shownDays: number
  /** The accessible name of the chart. */
  label: string
  /** The text for one bar. */
  words(value: number, part: number): string
  /** The first day of the retention window, if it is shown. */
  windowFrom?: string
}

const [width, height] = [600, 160]

/**
 * Days as bars, with axes. Above them is the text of the bar that is hovered over or chosen with the arrow
 * keys; the line is always there, so that nothing moves.
 */
export function DayChart({ today, days, shownDays, label, words, windowFrom }: DayChartProps) {
  const [chosen, setChosen] = useState<number | null>(null)
  const bins = toBins(days, today, shownDays)
  const { top, steps } = axisOf(Math.max(...bins.map(({ value }) => value)))
  const first = bins[0] ?? { from: today }
  const windowAt = windowFrom === undefined ? null : positionOf(windowFrom, first, today)
  const middle = bins[Math.floor(bins.length / 2)]
  const bin = chosen === null ? undefined : bins[Math.min(chosen, bins.length - 1)]
  const said = bin
    ? `${daysOf(bin)}: ${words(bin.value, bin.part)}`
    : 'Hover over a bar or use the arrow keys.'
  return (
    <figure class="days">
      <output class="days-said">{said}</output>
      <div class="days-plot">
        <ol class="days-axis" aria-hidden="true">
          {Array.from({ length: steps + 1 }, (_, i) => top - (top / steps) * i).map((value) => (
            <li key={`${value} of ${top}`}>{formatCompact(value)}</li>
          ))}
        </ol>
        <div class="days-bars">
          <input
            type="range"
            aria-label={label}
            aria-valuetext={said}
            min={0}
            max={bins.length - 1}
            value={chosen ?? bins.length - 1}
            onInput={(event) => setChosen(Number(event.currentTarget.value))}
            onPointerMove={(event) => {
              const { left, width } = event.currentTarget.getBoundingClientRect()
              setChosen(Math.max(0, Math.floor(((event.clientX - left) / width) * bins.length)))
            }}
            onPointerLeave={() => setChosen(null)}
            onBlur={() => setChosen(null)}
          />
          <Bars {...{ bins, top, steps, windowAt }} chosen={bin} />
          {windowAt !== null && (
            <span
              class={windowAt > 0.5 ? 'days-window left' : 'days-window'}
              style={{ left: `${windowAt * 100}%` }}
            >
              window
            </span>
          )}
        </div>
      </div>
      <figcaption>
        <span>{formatDay(first.from)}</span>
        <span>{middle && formatDay(middle.from)}</span>
        <span>today</span>
      </figcaption>
    </figure>
  )
}

interface BarsProps {
  bins: readonly Bin[]
  top: number
  steps: number
  windowAt: number | null
  chosen: Bin | undefined
}

function Bars({ bins, top, steps, windowAt, chosen }: BarsProps) {
  const step = width / bins.length
  const highOf = (value: number) => (value === 0 ? 0 : Math.max(1.5, (value / top) * height))
  const edge = windowAt === null ? 0 : windowAt * width
  return (
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
      {Array.from({ length: steps }, (_, i) => (
        <line key={i} class="grid" x1="0" x2={width} y1={(height / steps) * i} y2={(height / steps) * i} />
      ))}
      {bins.map((bin, i) => (
        <g key={bin.from} class={bin === chosen ? 'chosen' : undefined}>
          <rect
            class={(i + 1) * step <= edge ? 'bar aged' : 'bar'}
            x={i * step + step * 0.08}
            width={step * 0.84}
            y={height - highOf(bin.value)}
            height={highOf(bin.value)}
          />
          {bin.part > 0 && (
            <rect
              class="bar part"
              x={i * step + step * 0.08}
              width={step * 0.84}
              y={height - highOf(bin.part)}
              height={highOf(bin.part)}
            />
          )}
        </g>
      ))}
      {windowAt !== null && <line class="edge" x1={edge} x2={edge} y1="0" y2={height} />}
    </svg>
  )
}

function daysOf({ from, to }: Bin): string {
  return from === to ? formatDay(from) : `${formatDay(from)} – ${formatDay(to)}`
}
