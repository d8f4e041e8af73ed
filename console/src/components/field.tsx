import type { ComponentChildren, RefObject } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { type ApiError, asSentence } from '../api.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { showToast } from './toasts.tsx'

/** Literal types, because the allowed attributes depend on the input's type. */
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
  /** Whether it gets the focus when its form opens. */
  hasFocus?: boolean
  isCode?: boolean
}

/** A labelled field with a hint, or a problem instead of the hint. */
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

interface NoteProps {
  id: string
  problem?: string | undefined
  hint?: ComponentChildren
}

export function Note({ id, problem, hint }: NoteProps) {
  return problem === undefined ? (
    <p id={id} class="note">
      {hint}
    </p>
  ) : (
    <p id={id} class="note problem">
      <Icon name="alert" /> {asSentence(problem)}
    </p>
  )
}

/** A problem of several fields together, which gets the focus. Their group refers to its ID with `aria-describedby`. */
export function GroupProblem({ id, problem }: { id: string; problem: string | undefined }) {
  if (problem === undefined) return null
  return (
    <div role="alert" tabIndex={-1}>
      <Note id={id} problem={problem} />
    </div>
  )
}

/** An error that belongs to no field. */
export function Failure({ failure }: { failure: ApiError | null }) {
  if (!failure) return null
  return (
    <div class="failure" role="alert" tabIndex={-1}>
      <Icon name="alert" />
      <div>
        {failure.texts.map((text) => (
          <p key={text}>{text}</p>
        ))}
      </div>
    </div>
  )
}

interface ChoiceProps<Value extends string> {
  label: string
  value: Value
  choices: readonly (readonly [value: Value, title: string])[]
  onChange(value: Value): void
  /** Whether its label is visible to screen readers only. */
  isSmall?: boolean
}

/** A segmented control: one of a few options. */
export function Choice<Value extends string>({
  label,
  value,
  choices,
  onChange,
  isSmall = false,
}: ChoiceProps<Value>) {
  const name = useId()
  const segments = (
    <div class={isSmall ? 'segments small' : 'segments'}>
      {choices.map(([each, title]) => (
        <label key={each}>
          <input type="radio" name={name} checked={value === each} onChange={() => onChange(each)} />
          <span>{title}</span>
        </label>
      ))}
    </div>
  )
  return (
    <fieldset class="choice">
      <legend class={isSmall ? 'visually-hidden' : 'label'}>{label}</legend>
      {segments}
    </fieldset>
  )
}

/** For browsers without `field-sizing`. */
const charactersPerRow = 40

interface CopyFieldProps {
  label: string
  text: string
  /** The height in lines, for a text of several. */
  rows?: number
  /** Whether it gets the focus when its dialog opens. */
  hasFocus?: boolean
}

interface Copying {
  /** The field with the text. */
  area: RefObject<HTMLTextAreaElement | null>
  /** Whether it was copied just now. */
  isCopied: boolean
  copy(): Promise<void>
}

/** Copies a text. If the browser refuses, the text is selected for copying by hand. */
export function useCopying(label: string, text: string): Copying {
  const [isCopied, setCopied] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      showToast(`${label} copied`)
      setTimeout(() => setCopied(false), 2_000)
    } catch {
      area.current?.select()
      showToast('Text selected: copy it with Ctrl+C or ⌘C')
    }
  }
  return { area, isCopied, copy }
}

/** A text with a button that copies it. */
export function CopyField({ label, text, rows, hasFocus = false }: CopyFieldProps) {
  const { area, isCopied, copy } = useCopying(label, text)
  return (
    <div class="copy">
      <textarea
        ref={area}
        readOnly
        // Preact would write `false` as a text.
        data-focus={hasFocus || undefined}
        value={text}
        rows={rows ?? Math.ceil(text.length / charactersPerRow)}
        aria-label={label}
        spellcheck={false}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button icon={isCopied ? 'check' : 'copy'} label={`Copy ${label.toLowerCase()}`} onClick={copy}>
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  )
}

/**
 * Focuses the field that asks for it, if there is one. To be called in a layout effect: a later focus would
 * interrupt people who are already typing.
 */
export function focusWithin(container: Element | null): void {
  const field = container?.querySelector('[data-focus]')
  if (field instanceof HTMLElement) field.focus()
}
