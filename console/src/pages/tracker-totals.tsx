import { useEffect, useRef, useState } from 'preact/hooks'
import { encode } from '../api.ts'
import { DayChart } from '../components/day-chart.tsx'
import { dayNumber, dayText } from '../components/days.ts'
import { Choice } from '../components/field.tsx'
import { LoadError } from '../components/states.tsx'
import { showToast } from '../components/toasts.tsx'
import { counted, formatNumber } from '../components/when.tsx'
import { type Resource, refresh, useResource } from '../resource.ts'
import { choiceParam, useSearchParams } from '../search-params.ts'
import { useSession } from '../session.tsx'
import type { EventNames, Totals } from '../types.ts'
import { CreateCollectKey, FirstData } from './first-data.tsx'

const params = { days: choiceParam('90', '30', '365', '1825') }
const ranges = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['1825', '5 years'],
] as const

/** How often the page polls for the first data. */
const pollIntervalMs = 2_000

/** The daily totals of a tracker and its events by name; instructions if there is no data. */
export function TrackerTotals({ trackerId }: { trackerId: string }) {
  const [{ days }, choose] = useSearchParams(params)
  const [measure, setMeasure] = useState<'sessions' | 'events'>('sessions')
  const [isCreatingKey, setCreatingKey] = useState(false)
  const { retentionDays } = useSession().organisation
  const totals = useResource<Totals>(`/trackers/${encode(trackerId)}/totals?days=${days}`, {
    pollMs: (data) => (data && data.days.length === 0 ? pollIntervalMs : false),
  })
  useArrival(totals, days)
  if (totals.error) return <LoadError error={totals.error} onRetry={totals.reload} />
  const { data } = totals
  // An empty chart has the size of a full one, so that nothing moves when data arrives.
  const today = data?.today ?? new Date().toISOString().slice(0, 10)
  const total = data?.days.reduce((sum, day) => sum + day[measure], 0) ?? 0
  return (
    <section class="card" aria-labelledby="totals">
      <header class="totals-head">
        <h2 id="totals">Daily totals</h2>
        <Choice
          label="Period"
          value={days}
          choices={ranges}
          onChange={(value) => choose({ days: value })}
          isSmall
        />
        <Choice<'sessions' | 'events'>
          label="Measure"
          value={measure}
          choices={[
            ['sessions', 'Sessions'],
            ['events', 'Events'],
          ]}
          onChange={(value) => setMeasure(value)}
          isSmall
        />
      </header>
      <div aria-busy={data === null}>
        <DayChart
          today={today}
          days={(data?.days ?? []).map(({ day, ...each }) => ({ day, value: each[measure] }))}
          shownDays={Number(days)}
          label={`${counted(total, measure.slice(0, -1))} in ${days} days`}
          words={(value) => counted(value, measure.slice(0, -1))}
          windowFrom={dayText(dayNumber(today) - retentionDays + 1)}
        />
      </div>
      <p class="muted">
        Dates are in UTC. Your plan keeps visitor data for {counted(retentionDays, 'day')}; daily totals are
        kept indefinitely.
      </p>
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

/** Announces the first data of a period that was shown as empty, and fetches the data subjects that came with it. */
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
      {found.data?.isComplete === false && (
        <p class="muted">
          This tracker has too many event names to count the whole period. Only the most recent days are
          included.
        </p>
      )}
    </details>
  )
}
