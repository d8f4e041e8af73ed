import type { Activity } from '../types.ts'
import { Icon, type IconName } from './icon.tsx'
import { visiblePieces } from './invisible.ts'
import { formatNumber } from './when.tsx'

/** An ID with its invisible characters made visible, isolated from the direction of the text around it. */
export function Id({ text }: { text: string }) {
  return (
    <bdi class="id">
      {visiblePieces(text).map((piece, i) =>
        piece.isInvisible ? (
          <span key={i} class="unseen">
            {piece.text}
          </span>
        ) : (
          <bdi key={i}>{piece.text}</bdi>
        ),
      )}
    </bdi>
  )
}

const icons: Record<Activity['actor']['kind'], IconName> = {
  member: 'person',
  key: 'keys',
  'command-line': 'terminal',
}

/** Who did something: a member, an API key or the command line. */
export function ActorName({ actor }: { actor: Activity['actor'] }) {
  return (
    <span class="who">
      <Icon name={icons[actor.kind]} />
      <span>
        {actor.kind === 'key' && <span class="visually-hidden">API key </span>}
        {actor.kind === 'command-line' ? 'Command line' : actor.name}
      </span>
    </span>
  )
}

type State =
  | ('active' | 'expired' | 'revoked' | 'joined' | 'invited')
  | ('running' | 'paused' | 'stopped' | 'done')
  | ('open' | 'rejected' | 'cancelled')

/** The state of something, as a word with a coloured dot. */
export function Badge({ state }: { state: State }) {
  return <span class={`badge ${state}`}>{state}</span>
}

/** A row of numbers, each with a title. */
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
