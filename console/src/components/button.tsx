import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

interface ButtonProps {
  children: ComponentChildren
  kind?: 'primary' | 'plain' | 'danger' | 'quiet' | 'quiet risky'
  icon?: IconName
  type?: 'button' | 'submit'
  isBusy?: boolean
  isDisabled?: boolean
  /** The accessible name, if the text alone does not name the object. */
  label?: string
  onClick?: () => void
}

/** A button keeps its width while it is busy, so that nothing moves. */
export function Button(props: ButtonProps) {
  const {
    children,
    kind = 'plain',
    icon,
    type = 'button',
    isBusy = false,
    isDisabled = false,
    label,
    onClick,
  } = props
  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={isDisabled}
      aria-busy={isBusy}
      aria-label={label}
      onClick={() => !isBusy && onClick?.()}
    >
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  )
}
