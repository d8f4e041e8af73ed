import { Button } from '../components/button.tsx'
import { Figures } from '../components/values.tsx'
import { counted, formatNumber } from '../components/when.tsx'
import type { Batch, BatchPlan, Tracker } from '../types.ts'

/** How the lines of a list were used. */
export function LineFigures({ of: list }: { of: Batch | BatchPlan }) {
  const { read, used, empty, invalid, repeated, other } = list
  return (
    <Figures
      of={[
        ['Lines read', read],
        ['Used', used],
        ['Empty', empty],
        ['Invalid', invalid],
        ['Repeated', repeated],
        ...(other > 0 ? [['Header and lines inside quotes', other] as const] : []),
      ]}
    />
  )
}

const outcomes = { nothing: 'no data stored', invalid: 'invalid', repeated: 'repeated' }

/** What a batch would erase, before it is started. */
export function BatchPreview({
  plan,
  trackers,
  onErase,
}: {
  plan: BatchPlan
  trackers: Tracker[]
  onErase(): void
}) {
  const { found, nothing, invalid, repeated, subjects, hidden, others } = plan
  const nameOf = (trackerId: string) => trackers.find(({ id }) => id === trackerId)?.name ?? trackerId
  const unnamed = nothing + invalid + repeated - others.length
  return (
    <section class="card" aria-labelledby="preview">
      <header>
        <h2 id="preview">Preview</h2>
      </header>
      <LineFigures of={plan} />
      <p>
        {formatNumber(found)} of {counted(plan.used, 'used line')} {found === 1 ? 'matches' : 'match'} stored
        data; {formatNumber(nothing)} {nothing === 1 ? 'does' : 'do'} not.
      </p>
      <p>
        {subjects === 0
          ? 'No stored data matches this list.'
          : `${counted(subjects, 'data subject')} will be erased: ${plan.trackers
              .map(({ trackerId, subjects }) => `${formatNumber(subjects)} on ${nameOf(trackerId)}`)
              .join(', ')}.`}
      </p>
      {hidden > 0 && (
        <p>
          Your plan hides {formatNumber(hidden)} of them. Hidden data is still stored and will be erased too.
        </p>
      )}
      {others.length > 0 && (
        <details class="more">
          <summary>Lines without a match</summary>
          <ul class="chips">
            {others.map(({ line, outcome }) => (
              <li key={line}>
                line {formatNumber(line)}: {outcomes[outcome]}
              </li>
            ))}
            {unnamed > 0 && <li>and {formatNumber(unnamed)} more</li>}
          </ul>
        </details>
      )}
      {subjects > 0 && (
        <footer>
          <Button kind="danger" icon="trash" onClick={onErase}>
            Erase {counted(subjects, 'data subject')}…
          </Button>
        </footer>
      )}
    </section>
  )
}
