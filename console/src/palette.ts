import type { IconName } from './components/icon.tsx'
import { home, mainPages, otherPages } from './navigation.tsx'
import { draftOf, setRequestDraft } from './request-draft.ts'
import { may, type Role } from './roles.ts'
import type { FoundPerson } from './types.ts'

/** A page or an action that the search box offers. */
export interface Command {
  title: string
  icon: IconName
  to: string
  /** Other words that find it. */
  words?: string
  /** The role that it needs. */
  role?: Role
  /** Called before it opens. */
  prepare?(): void
}

const newRequest = { icon: 'requests', to: `${home}?create=true`, role: 'desk' } as const

/** The actions of the search box that do not depend on the text. */
const actions: readonly Command[] = [
  { title: 'New request', ...newRequest, words: 'create add access copy erasure' },
  {
    title: 'Create a tracker',
    icon: 'plus',
    to: '/console/trackers?create=true',
    words: 'new add website',
    role: 'admin',
  },
  {
    title: 'Create an API key',
    icon: 'plus',
    to: '/console/keys?create=true',
    words: 'new add token',
    role: 'admin',
  },
  {
    title: 'Erase a list of people',
    icon: 'trash',
    to: '/console/requests/erase-list',
    words: 'batch csv delete',
    role: 'desk',
  },
  {
    title: 'Report on requests',
    icon: 'print',
    to: '/console/requests/report',
    words: 'statistics figures csv months',
  },
  {
    title: 'Edit reply texts',
    icon: 'edit',
    to: '/console/settings/replies',
    words: 'answer mail template placeholder',
    role: 'admin',
  },
  {
    title: 'Invite a member',
    icon: 'plus',
    to: '/console/members?create=true',
    words: 'new add user',
    role: 'admin',
  },
  {
    title: 'Your account',
    icon: 'person',
    to: '/console/account',
    words: 'sessions password theme language profile',
  },
]

/** A group of commands with its title. */
export interface CommandGroup {
  title: string
  commands: Command[]
}

/** The commands that a text finds for a role, by group; all of them for an empty text. */
export function findCommands(text: string, role: Role): CommandGroup[] {
  const find = (all: readonly Command[]) => all.filter((each) => isFound(each, text) && may(role, each.role))
  return [
    { title: 'Pages', commands: find([...mainPages, ...otherPages]) },
    { title: 'Actions', commands: find(actions) },
  ].filter(({ commands }) => commands.length > 0)
}

/** A new request of the person whom a text names; `null` if it names nobody, or a role may not create one. */
export function requestCommand(text: string, people: readonly FoundPerson[], role: Role): Command | null {
  if (!may(role, newRequest.role)) return null
  if (people.length === 0 && !/\S[@=]\S/.test(text)) return null
  return {
    title: `New request for ${text}`,
    ...newRequest,
    prepare: () => setRequestDraft(draftOf(text, people)),
  }
}

/** Each word of the text must be the start of a word of the command. */
function isFound({ title, words = '' }: Command, text: string): boolean {
  const known = wordsOf(`${title} ${words}`)
  return wordsOf(text).every((word) => known.some((each) => each.startsWith(word)))
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean)
}
