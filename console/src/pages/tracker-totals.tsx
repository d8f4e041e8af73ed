import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { encode } from '../api.ts'
import { Change } from '../components/change.tsx'
import { DayChart } from '../components/day-chart.tsx'
import { binsBefore, dayNumber, daysCovered, dayText, sumOf, toBins } from '../components/days.ts'
import { Choice } from '../components/field.tsx'
import { LoadError, Placeholder } from '../components/states.tsx'
import { showToast } from '../components/toasts.tsx'
import { counted, formatDay, formatDays, formatNumber } from '../components/when.tsx'
import { type Resource, refresh, useResource } from '../resource.ts'
import { choiceParam, useSearchParams } from '../search-params.ts'
import { useSession } from '../session.tsx'
import type { EventNames, Totals } from '../types.ts'
import { CreateCollectKey, FirstData } from './first-data.tsx'

const params = { days: choiceParam('90', '7', '30', '365', '1825') }
const periods = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '12 months'],
  ['1825', '5 years'],
] as const

const measures = [
  ['sessions', 'Sessions', 'session'],
  ['events', 'Events', 'event'],
] as const
type Measure = (typeof measures)[number][0]

/** How often the page polls for the first data. */
const pollIntervalMs = 2_000

/** The daily totals of a tracker and its events by name; instructions if there is no data. */
export function TrackerTotals({ trackerId }: { trackerId: string }) {
  const [{ days }, choose] = useSearchParams(params)
  const [isCreatingKey, setCreatingKey] = useState(false)
  const shownDays = daysCovered(Number(days))
  // Twice as many days, for the comparison with the period before.
  const totals = useResource<Totals>(`/trackers/${encode(trackerId)}/totals?days=${2 * shownDays}`, {
    pollMs: (data) => (data && data.days.length === 0 ? pollIntervalMs : false),
  })
  useArrival(totals, days)
  if (totals.error) return <LoadError error={totals.error} onRetry={totals.reload} />
  const { data } = totals
  return (
    <section class="card" aria-labelledby="totals">
      <header class="totals-head">
        <h2 id="totals">Daily totals</h2>
        <Choice
          label="Period"
          value={days}
          choices={periods}
          onChange={(value) => choose({ days: value })}
          isSmall
        />
      </header>
      <div aria-busy={totals.isLoading}>
        <Comparison data={data} shownDays={shownDays} />
      </div>
      {data?.days.length === 0 ? (
        <FirstData trackerId={trackerId} onCreateKey={() => setCreatingKey(true)} />
      ) : (
        <Names {...{ trackerId, days }} />
      )}
      {/* Data may arrive while the key is shown, which must stay until it is stored. */}
      {isCreatingKey && <CreateCollectKey trackerId={trackerId} onClose={() => setCreatingKey(false)} />}
    </section>
  )
}

/** The totals of the period and of the one before, and the chart of the chosen measure. */
function Comparison({ data, shownDays }: { data: Totals | null; shownDays: number }) {
  const { retentionDays } = useSession().organisation
  const [measure, setMeasure] = useState<Measure>('sessions')
  const name = useId()
  // An empty chart has the size of a full one, so that nothing moves when data arrives.
  const today = data?.today ?? new Date().toISOString().slice(0, 10)
  const periodsOf = (each: Measure) => {
    const values = (data?.days ?? []).map(({ day, ...counts }) => ({ day, value: counts[each] }))
    const bins = toBins(values, today, shownDays)
    return { bins, before: binsBefore(values, bins) }
  }
  const { bins, before } = periodsOf(measure)
  const noun = measures.find(([each]) => each === measure)?.[2] ?? ''
  const [first, firstBefore, lastBefore] = [
    bins[0]?.from ?? '',
    before[0]?.from ?? '',
    before.at(-1)?.to ?? '',
  ]
  return (
    <>
      <fieldset class="measures">
        <legend class="visually-hidden">Measure</legend>
        {measures.map(([each, title]) => {
          const { bins, before } = periodsOf(each)
          const now = sumOf(bins)
          return (
            <label key={each} class="measure">
              <input type="radio" name={name} checked={measure === each} onChange={() => setMeasure(each)} />
              <span class="measure-title">{title}</span>
              <strong class="figure">{data ? formatNumber(now) : <Placeholder like="0" />}</strong>
              {data && <Change now={now} before={sumOf(before)} />}
            </label>
          )
        })}
      </fieldset>
      <DayChart
        {...{ today, bins, before }}
        label={`${counted(sumOf(bins), noun)} from ${formatDay(first)} to ${formatDay(today)}`}
        words={(value) => counted(value, noun)}
        windowFrom={dayText(dayNumber(today) - retentionDays + 1)}
      />
      <p class="muted small">
        Compared with {formatDays(firstBefore, lastBefore)}. Dates are in UTC, and today is not over. Your
        plan keeps visitor data for {counted(retentionDays, 'day')}; daily totals are kept indefinitely.
      </p>
    </>
  )
}

/** Announces the first data of a period that was shown as empty, and fetches its data subjects. */
function useArrival({ data, isLoading }: Resource<Totals>, days: string): void {
  const emptyDays = useRef<string | null>(null)
  useEffect(() => {
    if (data === null || isLoading) return
    const isEmpty = data.days.length === 0
    if (!isEmpty && emptyDays.current === days) {
      showToast('The first data has arrived')
      void refresh('/trackers')
    }
    emptyDays.current = isEmpty ? days : null
  }, [data, isLoading, days])
}

/** Events by name, counted on request. */
function Names({ trackerId, days }: { trackerId: string; days: string }) {
  const [isOpen, setOpen] = useState(false)
  const path = `/trackers/${encode(trackerId)}/event-names?days=${days}`
  const found = useResource<EventNames>(isOpen ? path : null)
  const names = found.data?.names ?? []
  const most = Math.max(1, ...names.map(({ count }) => count))
  return (
    <details class="more names-more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Events by name</summary>
      <ul class="names">
        {names.map(({ name, count }) => (
          <li key={name}>
            <span class="wrap">{name}</span>
            <meter min={0} max={most} value={count} aria-label={`Events named ${name}`} />
            <span class="number">{formatNumber(count)}</span>
          </li>
        ))}
      </ul>
      {found.data && names.length === 0 && <p class="muted">No events in this period.</p>}
      {found.data?.isComplete === false && (
        <p class="muted">
          This tracker has too many event names to count the whole period. Only the most recent days are
          included.
        </p>
      )}
    </details>
  )
}
