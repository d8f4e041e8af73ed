import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Figures } from '../components/values.tsx'
import { counted, formatNumber } from '../components/when.tsx'
import { groupAddress } from '../requests.ts'
import { Link } from '../router.tsx'
import type { ErasureListPlan, Tracker } from '../types.ts'

const outcomes = {
  nothing: 'no data stored',
  invalid: 'invalid',
  repeated: 'repeated',
  requested: 'already requested',
}

interface EraseListPreviewProps {
  plan: ErasureListPlan
  reference: string
  trackers: Tracker[]
  onErase(): void
}

/** What a list would erase, before anything is. */
export function EraseListPreview({ plan, reference, trackers, onErase }: EraseListPreviewProps) {
  const { read, used, empty, invalid, repeated, other, matched, nothing, requested, found, hidden } = plan
  const nameOf = (trackerId: string) => trackers.find(({ id }) => id === trackerId)?.name ?? trackerId
  const card = useRef<HTMLElement>(null)
  // It is below a long form.
  useEffect(() => card.current?.scrollIntoView({ block: 'start' }), [])
  const unnamed = nothing + invalid + repeated + requested - plan.unused.length
  return (
    <section ref={card} class="card list-preview" aria-labelledby="preview">
      <header>
        <h2 id="preview">Preview</h2>
      </header>
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
      <p>
        {formatNumber(matched)} of {counted(used, 'used line')} {matched === 1 ? 'matches' : 'match'} stored
        data; {formatNumber(nothing)} {nothing === 1 ? 'does' : 'do'} not.
      </p>
      {requested > 0 && (
        <p>
          {counted(requested, 'person', 'people')} already {requested === 1 ? 'has' : 'have'} a request with{' '}
          <Link to={groupAddress(reference)}>this reference</Link>, and {requested === 1 ? 'does' : 'do'} not
          get another one.
        </p>
      )}
      <p>
        {found.subjects === 0
          ? 'Nobody on this list is left to erase.'
          : `${counted(found.subjects, 'data subject')} will be erased: ${plan.trackers
              .map(({ trackerId, subjects }) => `${formatNumber(subjects)} on ${nameOf(trackerId)}`)
              .join(', ')}.`}
      </p>
      {hidden > 0 && (
        <p>
          Your plan hides {formatNumber(hidden)} of them. Hidden data is still stored and will be erased too.
        </p>
      )}
      {plan.unused.length > 0 && (
        <details class="more">
          <summary>Lines without a request</summary>
          <ul class="chips">
            {plan.unused.map(({ line, outcome }) => (
              <li key={line}>
                line {formatNumber(line)}: {outcomes[outcome]}
              </li>
            ))}
            {unnamed > 0 && <li>and {formatNumber(unnamed)} more</li>}
          </ul>
        </details>
      )}
      {found.subjects > 0 && (
        <footer>
          <Button kind="danger" icon="trash" onClick={onErase}>
            Erase {counted(found.subjects, 'data subject')}…
          </Button>
        </footer>
      )}
    </section>
  )
}
