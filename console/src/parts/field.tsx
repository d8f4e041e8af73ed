import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { ApiError } from '../api.ts'
import { Icon } from './icon.tsx'

/** One by one: what an input may have depends on its type. */
const kinds = {
  text: { type: 'text' },
  email: { type: 'email' },
  password: { type: 'password' },
  date: { type: 'date' },
} as const

interface FieldProps {
  label: string
  value: string
  onInput(value: string): void
  type?: keyof typeof kinds
  hint?: ComponentChildren
  problem?: string | undefined
  autoComplete?: string
  isRequired?: boolean
  /** Whether it is what somebody came to fill in. */
  hasFocus?: boolean
  isCode?: boolean
}

/** A field with its label above, and below it a hint or, in its place, what is wrong. */
export function Field(props: FieldProps) {
  const {
    label,
    value,
    onInput,
    type = 'text',
    hint,
    problem,
    autoComplete = 'off',
    isRequired = true,
  } = props
  const id = useId()
  const noteId = `${id}-note`
  const hasNote = problem !== undefined || hint !== undefined
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...kinds[type]}
        id={id}
        value={value}
        class={props.isCode ? 'code' : undefined}
        required={isRequired}
        autocomplete={autoComplete}
        data-focus={props.hasFocus}
        spellcheck={false}
        autocapitalize="none"
        aria-invalid={problem !== undefined}
        aria-describedby={hasNote ? noteId : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hasNote && <Note id={noteId} problem={problem} hint={hint} />}
    </div>
  )
}

export function Note({
  id,
  problem,
  hint,
}: {
  id: string
  problem?: string | undefined
  hint?: ComponentChildren
}) {
  return problem === undefined ? (
    <p id={id} class="note">
      {hint}
    </p>
  ) : (
    <p id={id} class="note problem">
      <Icon name="alert" /> {sentence(problem)}
    </p>
  )
}

/** What went wrong, apart from any field. */
export function Failure({ failure }: { failure: ApiError | null }) {
  if (!failure) return null
  return (
    <div class="failure" role="alert" tabIndex={-1}>
      <Icon name="alert" />
      <p>{failure.message}</p>
    </div>
  )
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
