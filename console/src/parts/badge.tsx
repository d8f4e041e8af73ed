/** The state of something, as a word with a dot: the colour alone says nothing. */
export function Badge({ state }: { state: 'active' | 'expired' | 'revoked' | 'joined' | 'invited' }) {
  return <span class={`badge ${state}`}>{state}</span>
}
