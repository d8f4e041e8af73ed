/** Free-form facts, by name; `isShort` in a line, where they are beside the point. */
export function Attributes({
  of,
  none,
  isShort = false,
}: {
  of: Record<string, unknown>
  none: string
  isShort?: boolean
}) {
  const facts = Object.entries(of)
  if (facts.length === 0) return <p class="muted">{none}</p>
  return (
    <dl class={isShort ? 'facts short' : 'facts'}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
