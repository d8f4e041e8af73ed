type State =
  | ('active' | 'expired' | 'revoked' | 'joined' | 'invited')
  | ('running' | 'paused' | 'stopped' | 'done')

/** The state of something, as a word with a dot: the colour alone says nothing. */
export function Badge({ state }: { state: State }) {
  return <span class={`badge ${state}`}>{state}</span>
}
