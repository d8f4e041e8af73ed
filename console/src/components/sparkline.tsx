import { Change, changeInWords } from './change.tsx'
import { type Bin, sumOf } from './days.ts'
import { counted, formatDay, formatNumber } from './when.tsx'

interface SparklineProps {
  /** Days up to today. */
  bins: readonly Bin[]
  /** As many days before. */
  before: readonly Bin[]
}

const [width, height] = [300, 44]

/** Sessions per day as small bars, labelled with their total and the change since the period before. */
export function Sparkline({ bins, before }: SparklineProps) {
  const change = { now: sumOf(bins), before: sumOf(before) }
  const highest = bins.reduce((most, bin) => (bin.value > most ? bin.value : most), 0)
  const peak = bins.findLast(({ value }) => value === highest)
  const step = width / bins.length
  const text = [
    `${counted(change.now, 'session')} in the last ${bins.length} days, ${changeInWords(change)}`,
    ...(peak && highest > 0 ? [`most on ${formatDay(peak.to)}: ${formatNumber(highest)}`] : []),
  ].join('; ')
  return (
    <figure class="spark">
      <figcaption>
        <span class="spark-title">Sessions, last {bins.length} days</span>
        <strong class="figure">{formatNumber(change.now)}</strong> <Change {...change} />
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={text}>
        {bins.map(({ from, value }, i) => {
          // A day with any data stays visible, however high the highest bar is.
          const high = value === 0 ? 0 : Math.max(1.5, (value / highest) * (height - 1))
          return (
            <rect
              key={from}
              class={i === bins.length - 1 ? 'bar unfinished' : 'bar'}
              x={i * step}
              width={step * 0.78}
              y={height - high}
              height={high}
            />
          )
        })}
        <line x1="0" x2={width} y1={height} y2={height} />
      </svg>
    </figure>
  )
}
