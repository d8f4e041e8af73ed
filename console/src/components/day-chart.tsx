import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Change, changeInWords } from './change.tsx'
import { axisOf, type Bin, positionOf } from './days.ts'
import { formatCompact, formatDay, formatDays, formatNumber } from './when.tsx'

interface DayChartProps {
  today: string
  /** The bars, up to today. */
  bins: readonly Bin[]
  /** The period before, for a comparison bar by bar. */
  before?: readonly Bin[]
  /** The accessible name of the chart. */
  label: string
  /** The text for one bar. */
  words(value: number, part: number): string
  /** The first day of the retention window, if it is shown. */
  windowFrom?: string
}

const [width, height] = [600, 160]

/**
 * Days as bars, with axes and a tooltip at the chosen bar. A bar is chosen by hovering, by touch, or with the
 * keys of the invisible slider, which screen readers use too.
 */
export function DayChart({ today, bins, before, label, words, windowFrom }: DayChartProps) {
  const [chosen, setChosen] = useState<number | null>(null)
  const [isShown, setShown] = useState(false)
  const plot = useRef<HTMLDivElement>(null)
  const slider = useRef<HTMLInputElement>(null)
  useDismissal(plot, isShown, () => setShown(false))
  const { top, steps } = axisOf(Math.max(...bins.map(({ value }) => value)))
  const first = bins[0] ?? { from: today }
  const windowAt = windowFrom === undefined ? null : positionOf(windowFrom, first, today)
  const last = bins.at(-1) ?? { to: today }
  const middle = bins[Math.floor(bins.length / 2)]
  // A shorter period may have been chosen meanwhile.
  const at = Math.min(chosen ?? bins.length - 1, bins.length - 1)
  const bin = bins[at]
  const tip = bin && toTip(bin, before?.[at], today, words)
  function choose(index: number): void {
    setChosen(Math.max(0, Math.min(bins.length - 1, index)))
    setShown(true)
  }
  function chooseAt(event: PointerEvent): void {
    const { left, width } = plot.current?.getBoundingClientRect() ?? { left: 0, width: 1 }
    choose(Math.floor(((event.clientX - left) / width) * bins.length))
  }
  return (
    <figure class="days">
      <div class="days-plot">
        <ol class="days-axis" aria-hidden="true">
          {Array.from({ length: steps + 1 }, (_, i) => top - (top / steps) * i).map((value) => (
            <li key={`${value} of ${top}`}>{formatCompact(value)}</li>
          ))}
        </ol>
        <div
          ref={plot}
          class="days-bars"
          onPointerMove={chooseAt}
          onPointerDown={(event) => {
            // Keeps the default action from taking the focus away again.
            event.preventDefault()
            slider.current?.focus({ preventScroll: true })
            chooseAt(event)
          }}
          // A finger leaves when it is lifted, and the tooltip must stay to be read.
          onPointerLeave={(event) => event.pointerType === 'mouse' && setShown(false)}
        >
          <input
            ref={slider}
            type="range"
            aria-label={label}
            aria-valuetext={tip && inWords(tip)}
            min={0}
            max={bins.length - 1}
            value={at}
            onInput={(event) => choose(Number(event.currentTarget.value))}
            onFocus={() => choose(at)}
            onBlur={() => setShown(false)}
          />
          <Bars {...{ bins, top, steps, windowAt, today }} chosen={isShown ? bin : undefined} />
          {windowAt !== null && (
            <span
              class={windowAt > 0.5 ? 'days-window left' : 'days-window'}
              style={{ left: `${windowAt * 100}%` }}
            >
              window
            </span>
          )}
          {isShown && bin && tip && (
            <ChartTip {...{ tip, top }} value={bin.value} at={(at + 0.5) / bins.length} />
          )}
        </div>
      </div>
      <figcaption>
        <span>{formatDay(first.from)}</span>
        <span>{middle && formatDay(middle.from)}</span>
        <span>{last.to === today ? 'today' : formatDay(last.to)}</span>
      </figcaption>
    </figure>
  )
}

/** Escape, or a touch elsewhere, removes the tooltip. */
function useDismissal(plot: { current: Element | null }, isShown: boolean, dismiss: () => void): void {
  // A layout effect, because either may follow at once.
  useLayoutEffect(() => {
    if (!isShown) return
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && dismiss()
    const onPointer = (event: Event) => {
      if (event.target instanceof Node && !plot.current?.contains(event.target)) dismiss()
    }
    document.addEventListener('keydown', onKey)
    document.addEventListener('pointerdown', onPointer)
    return () => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('pointerdown', onPointer)
    }
  }, [isShown])
}

/** What is said about a bar. */
interface Tip {
  days: string
  figures: string
  /** The figure of the period before, and the change unless that was nothing. */
  earlier: string | null
  change: { now: number; before: number } | null
}

function toTip(bin: Bin, before: Bin | undefined, today: string, words: DayChartProps['words']): Tip {
  const days = formatDays(bin.from, bin.to)
  return {
    days: bin.to === today ? `${days}, so far` : days,
    figures: words(bin.value, bin.part),
    earlier: before ? `${formatNumber(before.value)} on ${formatDays(before.from, before.to)}` : null,
    change: before && before.value > 0 ? { now: bin.value, before: before.value } : null,
  }
}

function inWords({ days, figures, earlier, change }: Tip): string {
  const compared = earlier && (change ? `, ${changeInWords(change)} from ${earlier}` : `; ${earlier}`)
  return `${days}: ${figures}${compared ?? ''}`
}

interface ChartTipProps {
  tip: Tip
  value: number
  top: number
  /** The middle of the bar, from 0 to 1. */
  at: number
}

/** The slider says the same to screen readers. */
function ChartTip({ tip: { days, figures, earlier, change }, value, top, at }: ChartTipProps) {
  const style = {
    left: `${at * 100}%`,
    // Within the plot at either end, and above the bar between them.
    translate: `${-at * 100}% 0`,
    bottom: `min(${(value / top) * 100}% + 10px, 100% - 44px)`,
  }
  return (
    <div class="chart-tip" style={style} aria-hidden="true">
      <span>{days}</span>
      <strong>{figures}</strong>
      {earlier && (
        <span>
          {change && <Change {...change} />} {change && 'from '}
          {earlier}
        </span>
      )}
    </div>
  )
}

interface BarsProps {
  bins: readonly Bin[]
  top: number
  steps: number
  windowAt: number | null
  today: string
  chosen: Bin | undefined
}

function Bars({ bins, top, steps, windowAt, today, chosen }: BarsProps) {
  const step = width / bins.length
  const highOf = (value: number) => (value === 0 ? 0 : Math.max(1.5, (value / top) * height))
  const edge = windowAt === null ? 0 : windowAt * width
  const kindOf = (bin: Bin, i: number) =>
    (i + 1) * step <= edge ? 'bar aged' : bin.to === today ? 'bar unfinished' : 'bar'
  return (
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
      {Array.from({ length: steps }, (_, i) => (
        <line key={i} class="grid" x1="0" x2={width} y1={(height / steps) * i} y2={(height / steps) * i} />
      ))}
      {bins.map((bin, i) => (
        <g key={bin.from} class={bin === chosen ? 'chosen' : undefined}>
          {bin === chosen && <rect class="column" x={i * step} width={step} y="0" height={height} />}
          <rect
            class={kindOf(bin, i)}
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
