import type { IconName } from './components/icon.tsx'
import { mainPages, otherPages } from './navigation.tsx'

/** A page or an action that the search box offers. */
export interface Command {
  title: string
  icon: IconName
  to: string
  /** Other words that find it. */
  words?: string
}

/**
 * The actions of the search box. An action that takes the text, such as one for the person it names, belongs in
 * `findCommands`.
 */
const actions: readonly Command[] = [
  { title: 'Create a tracker', icon: 'plus', to: '/console/trackers?create=true', words: 'new add website' },
  { title: 'Create an API key', icon: 'plus', to: '/console/keys?create=true', words: 'new add token' },
  { title: 'Erase a list of people', icon: 'trash', to: '/console/batches/new', words: 'start batch delete' },
  {
    title: 'Report on requests',
    icon: 'print',
    to: '/console/requests/report',
    words: 'statistics figures csv months',
  },
  { title: 'Invite a member', icon: 'plus', to: '/console/members?create=true', words: 'new add user' },
]

/** A group of commands with its title. */
export interface CommandGroup {
  title: string
  commands: Command[]
}

/** The commands that a text finds, by group; all of them for an empty text. */
export function findCommands(text: string): CommandGroup[] {
  const find = (all: readonly Command[]) => all.filter((each) => isFound(each, text))
  return [
    { title: 'Pages', commands: find([...mainPages, ...otherPages]) },
    { title: 'Actions', commands: find(actions) },
  ].filter(({ commands }) => commands.length > 0)
}

/** Each word of the text must be the start of a word of the command. */
function isFound({ title, words = '' }: Command, text: string): boolean {
  const known = wordsOf(`${title} ${words}`)
  return wordsOf(text).every((word) => known.some((each) => each.startsWith(word)))
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean)
}
