import { formatNumber } from './when.tsx'

/** Numbers in a row, each under its title. */
export function Figures({ of }: { of: readonly (readonly [title: string, number: number])[] }) {
  return (
    <dl class="figures">
      {of.map(([title, number]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd class="figure">{formatNumber(number)}</dd>
        </div>
      ))}
    </dl>
  )
}
