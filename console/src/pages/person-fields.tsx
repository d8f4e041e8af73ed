import { Icon } from '../components/icon.tsx'
import { useResource } from '../resource.ts'
import type { Identifier, SubjectRef, TrackerList } from '../types.ts'

interface PartProps<Part> {
  part: Part
  /** Which of several it is, for screen readers. */
  number: number
  hasFocus?: boolean
  /** `null` removes it. */
  onChange(part: Part | null): void
}

/** The name and the value of an identifier. */
export function IdentifierFields({ part, number, hasFocus = false, onChange }: PartProps<Identifier>) {
  return (
    <li>
      <input
        class="code"
        aria-label={`Name of identifier ${number}`}
        value={part.name}
        {...plain}
        onInput={(event) => onChange({ ...part, name: event.currentTarget.value })}
      />
      <input
        aria-label={`Value of identifier ${number}`}
        value={part.value}
        placeholder={part.name === 'email' ? 'ada@example.com' : undefined}
        data-focus={hasFocus}
        {...plain}
        onInput={(event) => onChange({ ...part, value: event.currentTarget.value })}
      />
      <RemoveButton label={`Remove identifier ${number}`} onClick={() => onChange(null)} />
    </li>
  )
}

/** The tracker and the ID of a record. */
export function SubjectFields({ part, number, onChange }: PartProps<SubjectRef>) {
  const trackers = useResource<TrackerList>('/trackers')
  const all = trackers.data?.trackers ?? []
  const isKnown = all.some(({ id }) => id === part.trackerId)
  return (
    <li>
      <select
        aria-label={`Tracker of record ${number}`}
        value={part.trackerId}
        onChange={(event) => onChange({ ...part, trackerId: event.currentTarget.value })}
      >
        {!isKnown && <option value={part.trackerId}>{part.trackerId || 'Tracker…'}</option>}
        {all.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <input
        class="code"
        aria-label={`ID of record ${number}`}
        value={part.subjectId}
        placeholder="Data subject ID"
        {...plain}
        onInput={(event) => onChange({ ...part, subjectId: event.currentTarget.value })}
      />
      <RemoveButton label={`Remove record ${number}`} onClick={() => onChange(null)} />
    </li>
  )
}

/** Browsers must neither correct nor remember who somebody is. */
const plain = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false, maxLength: 300 } as const

function RemoveButton({ label, onClick }: { label: string; onClick(): void }) {
  return (
    <button type="button" class="icon-button" aria-label={label} onClick={onClick}>
      <Icon name="close" />
    </button>
  )
}
