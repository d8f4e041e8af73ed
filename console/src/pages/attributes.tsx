import { Id } from '../parts/id.tsx'

/** Free-form facts, by name. */
export function Attributes({ of, none }: { of: Record<string, unknown>; none: string }) {
  const facts = Object.entries(of)
  if (facts.length === 0) return <p class="muted">{none}</p>
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Id text={name} />
          </dt>
          <dd>
            <Id text={typeof value === 'string' ? value : JSON.stringify(value)} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
