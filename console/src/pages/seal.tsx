import type { Verdict } from '../verify.ts'

const words = {
  verified: 'Verified',
  refused: 'Not verified',
  unknown: 'Not checked',
  incomplete: 'Incomplete',
}

/** What all checks come to, at a glance. */
export function Seal({ states, isComplete }: { states: Verdict['state'][]; isComplete: boolean }) {
  const state =
    states.find((each) => each === 'refused') ??
    states.find((each) => each === 'unknown') ??
    (isComplete ? 'verified' : 'incomplete')
  return (
    <p class={`seal ${state}`} role="status">
      <svg viewBox="0 0 64 64" aria-hidden="true" focusable="false">
        <circle class="ring" cx="32" cy="32" r="30" />
        <circle class="teeth" cx="32" cy="32" r="25.500" />
        <path d={state === 'verified' ? 'm21 33 8 8 15-17' : 'M32 18v18m0 8v.5'} />
      </svg>
      <span>
        <strong>{words[state]}</strong>
        <small>{state === 'incomplete' ? 'see details' : 'in this browser'}</small>
      </span>
    </p>
  )
}
