import { useId } from 'preact/hooks'

interface ChoiceProps<Value extends string> {
  label: string
  value: Value
  choices: readonly (readonly [value: Value, title: string])[]
  onChange(value: Value): void
  /** Whether its label is for those who listen alone. */
  isSmall?: boolean
}

/** One of a few, all of them in sight. */
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
