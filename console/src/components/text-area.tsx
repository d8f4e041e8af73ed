import type { ComponentChildren, RefObject } from 'preact'
import { useId } from 'preact/hooks'
import { Note } from './field.tsx'

interface TextAreaProps {
  label: string
  value: string
  rows: number
  onInput(value: string): void
  hint?: ComponentChildren
  problem?: string | undefined
  lang?: string
  isReadOnly?: boolean
  area?: RefObject<HTMLTextAreaElement | null>
  /** Whether it gets the focus when its form opens. */
  hasFocus?: boolean
}

/** A labelled field for lines of prose. */
export function TextArea(props: TextAreaProps) {
  const { label, value, rows, onInput, hint, problem, lang, area, hasFocus, isReadOnly = false } = props
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        {...(area && { ref: area })}
        id={id}
        class="prose-lines"
        rows={rows}
        value={value}
        lang={lang}
        readOnly={isReadOnly}
        data-focus={hasFocus}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <Note id={`${id}-note`} problem={problem} hint={hint} />
    </div>
  )
}
