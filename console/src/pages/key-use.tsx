import { DayChart } from '../parts/day-chart.tsx'
import { Figures } from '../parts/figures.tsx'
import { counted, formatNumber } from '../parts/when.tsx'
import type { KeyDetail } from '../types.ts'

const shownDays = 90

/** How often a key was used, day by day, and how often it was refused. */
export function KeyUse({ detail: { today, days } }: { detail: KeyDetail }) {
  const sum = (measure: 'requests' | 'refusals') => days.reduce((total, day) => total + day[measure], 0)
  const [requests, refusals] = [sum('requests'), sum('refusals')]
  return (
    <section class="card" aria-labelledby="use">
      <header>
        <h2 id="use">Usage in the last {shownDays} days</h2>
      </header>
      <Figures
        of={[
          ['Requests', requests],
          ['Refused', refusals],
        ]}
      />
      {requests === 0 ? (
        <p class="muted">No requests in this period.</p>
      ) : (
        <>
          <DayChart
            today={today}
            days={days.map(({ day, requests, refusals }) => ({ day, value: requests, part: refusals }))}
            shownDays={shownDays}
            label={`${counted(requests, 'request')}, of which ${formatNumber(refusals)} refused`}
            words={(value, part) => `${counted(value, 'request')}, ${formatNumber(part)} refused`}
          />
          <p class="muted">
            Dates are in UTC. Refused requests lacked a scope (403) or exceeded a budget of the key or of the
            address they came from (429).
          </p>
        </>
      )}
    </section>
  )
}
