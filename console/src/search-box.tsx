import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './components/icon.tsx'
import { Id } from './components/values.tsx'
import { Ago, counted } from './components/when.tsx'
import { type Command, type CommandGroup, findCommands, requestCommand } from './palette.ts'
import { type Resource, useFetched } from './resource.ts'
import { navigate } from './router.tsx'
import {
  countHidden,
  foundSubjects,
  noResults,
  onSearchText,
  searchPeople,
  setSearchText,
  subjectAddress,
} from './search.ts'
import { useSession } from './session.tsx'
import type { FoundGroup, FoundGroups, FoundPerson } from './types.ts'

const pauseMs = 120
const resultsPerTracker = 5
/** From this length on, Enter runs the first command that a text finds. */
const commandLength = 2

/**
 * The search box on every page: finds people by an e-mail address, an identifier or an ID, and pages and
 * actions by their names. The arrow keys select an option; Enter opens it, or the page with all people.
 */
export function SearchBox() {
  const [text, setText] = useState('')
  const [isOpen, setOpen] = useState(false)
  // `null` until an arrow key is pressed, -1 for the field itself.
  const [moved, setMoved] = useState<number | null>(null)
  const box = useRef<HTMLElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const listId = useId()
  const typed = text.trim()
  const query = usePaused(typed)
  const found = useFetched(isOpen && query !== '' ? `find ${query}` : null, () =>
    searchPeople(query, resultsPerTracker),
  )
  const { groups, people } = isOpen && typed !== '' && query !== '' ? (found.data ?? noResults) : noResults
  const { role } = useSession().member
  const named = findCommands(typed, role)
  // People found by an earlier text are listed until the next answer, and are not whom a request is for.
  const isCurrent = query === typed && !found.isLoading
  const request = requestCommand(typed, isCurrent ? people : [], role)
  const commands = request ? [...named, { title: 'This person', commands: [request] }] : named
  const options: Pick<Command, 'to' | 'prepare'>[] = [
    ...commands.flatMap(({ commands }) => commands),
    ...foundSubjects(groups).map((subject) => ({ to: subjectAddress(subject) })),
  ]
  const selected = moved ?? (typed.length >= commandLength && named.length > 0 ? 0 : -1)
  useShortcuts(field, () => setOpen(true))
  // An erased person must not stay visible here.
  useLayoutEffect(() => onSearchText((text) => text === '' && setText('')), [])
  // Layout effects, because the page takes keys as soon as it is painted.
  useLayoutEffect(() => setMoved(null), [typed, query, isOpen])
  useLayoutEffect(() => {
    const leave = (event: Event) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false)
    }
    document.addEventListener('pointerdown', leave)
    document.addEventListener('focusin', leave)
    return () => {
      document.removeEventListener('pointerdown', leave)
      document.removeEventListener('focusin', leave)
    }
  }, [])
  function open({ to, prepare }: Pick<Command, 'to' | 'prepare'>): void {
    setOpen(false)
    setText('')
    prepare?.()
    navigate(to)
  }
  function showAll(): void {
    if (typed === '') return
    setSearchText(typed)
    setOpen(false)
    navigate('/console/search')
  }
  function handleKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && options.length > 0) {
      event.preventDefault()
      setOpen(true)
      // From the field down to the first, up to the last, and from either end back to the field.
      setMoved(((selected + 1 + step + options.length + 1) % (options.length + 1)) - 1)
    }
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && request) {
      event.preventDefault()
      open(request)
    }
    if (event.key === 'Escape' && (isOpen || text !== '')) {
      event.preventDefault()
      setOpen(false)
      if (!isOpen) setText('')
    }
  }
  return (
    <search ref={box} class="search-box" aria-label="Search">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const chosen = isOpen ? options[selected] : undefined
          if (chosen === undefined) showAll()
          else open(chosen)
        }}
      >
        <label for="search-box" class="visually-hidden">
          Search people by e-mail address, identifier or ID, or go to a page
        </label>
        <input
          ref={field}
          id="search-box"
          type="search"
          list={undefined}
          // biome-ignore lint/a11y/noRedundantRoles: an input is a combobox by default only with a datalist
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && options[selected] ? `${listId}-${selected}` : undefined}
          placeholder="Search or go to"
          value={text}
          maxLength={300}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          enterkeyhint="search"
          onFocus={() => text !== '' && setOpen(true)}
          onClick={() => setOpen(true)}
          onKeyDown={handleKey}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setOpen(true)
          }}
        />
        <span class="kbd" aria-hidden="true">
          {isMac ? '⌘K' : 'Ctrl K'}
        </span>
        <button type="submit" aria-label="Search">
          <Icon name="search" />
        </button>
      </form>
      <SearchResults
        {...{ listId, groups, people, selected, found, typed }}
        commands={isOpen ? commands : []}
        isShown={isOpen}
        onOpen={open}
        onShowAll={showAll}
      />
    </search>
  )
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** The text after typing has paused. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}

/** ⌘K, Ctrl+K and, outside of text fields, / focus the field and open the list. */
function useShortcuts(field: { current: HTMLInputElement | null }, onOpen: () => void): void {
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !isTyping(event.target)
      const isK = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)
      if ((!isSlash && !isK) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
      onOpen()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, textarea, select, [contenteditable]')
}

interface SearchResultsProps {
  listId: string
  isShown: boolean
  /** The text that was typed. */
  typed: string
  commands: CommandGroup[]
  groups: FoundGroup[]
  people: FoundPerson[]
  /** The index of the selected option: commands first, then people. */
  selected: number
  found: Resource<FoundGroups>
  onOpen(option: Pick<Command, 'to' | 'prepare'>): void
  onShowAll(): void
}

/** The commands, and the people by tracker. Always rendered, so that screen readers announce changes. */
function SearchResults(props: SearchResultsProps) {
  const { listId, isShown, typed, commands, groups, people, selected, found, onOpen, onShowAll } = props
  useEffect(() => {
    document.getElementById(`${listId}-${selected}`)?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  let number = -1
  function option(chosen: Pick<Command, 'to' | 'prepare'>, content: ComponentChildren) {
    number += 1
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys, because it keeps the focus
      // biome-ignore lint/a11y/useFocusableInteractive: as above
      <div
        key={chosen.to}
        id={`${listId}-${number}`}
        class="search-result"
        role="option"
        aria-selected={number === selected}
        onClick={() => onOpen(chosen)}
      >
        {content}
      </div>
    )
  }
  return (
    <div class="search-results" hidden={!isShown}>
      <div id={listId} role="listbox" aria-label="Search results">
        {commands.map(({ title, commands }) => (
          <OptionGroup key={title} title={title}>
            {commands.map((command) =>
              option(
                command,
                <>
                  <span class="command">
                    <Icon name={command.icon} /> <Id text={command.title} />
                  </span>
                  {command.prepare && (
                    <span class="kbd" aria-hidden="true">
                      {isMac ? '⌘ ↵' : 'Ctrl ↵'}
                    </span>
                  )}
                </>,
              ),
            )}
          </OptionGroup>
        ))}
        {groups.map(({ tracker, subjects }) => (
          <OptionGroup key={tracker.id} title={tracker.name}>
            {subjects.map((subject) =>
              option(
                { to: subjectAddress(subject) },
                <>
                  <code class="wrap">
                    <Id text={subject.subjectId} />
                  </code>
                  <small>
                    {counted(subject.counts.events, 'event')} · <Ago at={subject.lastSeenAt} />
                  </small>
                </>,
              ),
            )}
          </OptionGroup>
        ))}
      </div>
      <p role="status" class="search-note">
        {typed === ''
          ? 'Type an e-mail address, an identifier or an ID to find a person.'
          : noteOn(found, groups, people)}
      </p>
      {typed !== '' && (
        <button type="button" class="search-all" tabIndex={-1} onClick={onShowAll}>
          <span>{groups.length > 0 ? 'Show all results' : 'Search people'}</span>
          <span>
            <span class="kbd" aria-hidden="true">
              {selected === 0 ? '↑ ↵' : '↵'}
            </span>
            <Icon name="next" />
          </span>
        </button>
      )}
    </div>
  )
}

function OptionGroup({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a listbox may not contain a fieldset
    <div role="group" aria-label={title}>
      <p aria-hidden="true">{title}</p>
      {children}
    </div>
  )
}

function noteOn(found: Resource<FoundGroups>, groups: FoundGroup[], people: FoundPerson[]): string {
  if (found.error) return found.error.message
  if (groups.length > 0) return ''
  if (found.isLoading) return 'Searching…'
  const hidden = countHidden(people)
  return hidden > 0
    ? `Your plan hides ${counted(hidden, 'data subject')} of this person. Press Enter for details.`
    : 'No people found. Try an e-mail address, userId=42 or the start of an ID.'
}
