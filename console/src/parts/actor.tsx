import type { Activity } from '../types.ts'
import { Icon, type IconName } from './icon.tsx'

const icons: Record<Activity['actor']['kind'], IconName> = {
  member: 'person',
  key: 'keys',
  'command-line': 'terminal',
}

/** Who did something: a member, an API key, or whoever has the command line. */
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
