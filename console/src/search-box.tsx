import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './components/icon.tsx'
import { Id } from './components/values.tsx'
import { Ago, counted } from './components/when.tsx'
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
import type { FoundGroup, FoundGroups, FoundPerson } from './types.ts'

const pauseMs = 120
const resultsPerTracker = 5

/**
 * The search box on every page: finds people by an e-mail address, an identifier or an ID. The arrow keys
 * select a result; Enter opens it, or the page with all results.
 */
export function SearchBox() {
  const [text, setText] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [selected, setSelected] = useState(-1)
  const box = useRef<HTMLElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const listId = useId()
  const query = usePaused(text.trim())
  const found = useFetched(isOpen && query !== '' ? `find ${query}` : null, () =>
    searchPeople(query, resultsPerTracker),
  )
  const { groups, people } =
    isOpen && text.trim() !== '' && query !== '' ? (found.data ?? noResults) : noResults
  const options = foundSubjects(groups)
  useShortcuts(field)
  // An erased person must not stay visible here.
  useLayoutEffect(() => onSearchText((text) => text === '' && setText('')), [])
  // Layout effects, because the page takes keys as soon as it is painted.
  useLayoutEffect(() => setSelected(-1), [query])
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
  function open(to: string): void {
    setOpen(false)
    setText('')
    navigate(to)
  }
  function showAll(): void {
    if (text.trim() === '') return
    setSearchText(text.trim())
    setOpen(false)
    navigate('/console/search')
  }
  function handleKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && options.length > 0) {
      event.preventDefault()
      setOpen(true)
      // From the field down to the first, up to the last, and from either end back to the field.
      setSelected(((selected + 1 + step + options.length + 1) % (options.length + 1)) - 1)
    }
    if (event.key === 'Escape' && (isOpen || text !== '')) {
      event.preventDefault()
      if (isOpen && text !== '') setOpen(false)
      else setText('')
    }
  }
  const isShown = isOpen && query !== '' && text.trim() !== ''
  return (
    <search ref={box} class="search-box" aria-label="People">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const chosen = options[selected]
          if (chosen) open(subjectAddress(chosen))
          else showAll()
        }}
      >
        <label for="search-box" class="visually-hidden">
          Search people by e-mail address, identifier or ID
        </label>
        <input
          ref={field}
          id="search-box"
          type="search"
          list={undefined}
          // biome-ignore lint/a11y/noRedundantRoles: only with a datalist would it be one by itself
          role="combobox"
          aria-expanded={isShown}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={options[selected] ? `${listId}-${selected}` : undefined}
          placeholder="Search people"
          value={text}
          maxLength={300}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          enterkeyhint="search"
          onFocus={() => setOpen(true)}
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
        {...{ listId, isShown, groups, people, selected, found }}
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

/** ⌘K, Ctrl+K and, outside of text fields, / focus the field. */
function useShortcuts(field: { current: HTMLInputElement | null }): void {
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !isTyping(event.target)
      const isK = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)
      if ((!isSlash && !isK) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
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
  groups: FoundGroup[]
  people: FoundPerson[]
  /** The index of the selected option. */
  selected: number
  found: Resource<FoundGroups>
  onOpen(to: string): void
  onShowAll(): void
}

/** The results by tracker. Always rendered, so that screen readers announce changes. */
function SearchResults(props: SearchResultsProps) {
  const { listId, isShown, groups, people, selected, found, onOpen, onShowAll } = props
  const hidden = countHidden(people)
  useEffect(() => {
    document.getElementById(`${listId}-${selected}`)?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  let number = -1
  const isNobody = groups.length === 0 && !found.isLoading && found.error === null
  return (
    <div class="search-results" hidden={!isShown}>
      <div id={listId} role="listbox" aria-label="Search results">
        {groups.map(({ tracker, subjects }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is nothing that a listbox may hold
          <div key={tracker.id} role="group" aria-label={tracker.name}>
            <p aria-hidden="true">{tracker.name}</p>
            {subjects.map((subject) => {
              number += 1
              const mine = number
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the keys belong to the field, which keeps the focus
                // biome-ignore lint/a11y/useFocusableInteractive: as above
                <div
                  key={subject.subjectId}
                  id={`${listId}-${mine}`}
                  class="search-result"
                  role="option"
                  aria-selected={mine === selected}
                  onClick={() => onOpen(subjectAddress(subject))}
                >
                  <code class="wrap">
                    <Id text={subject.subjectId} />
                  </code>
                  <small>
                    {counted(subject.counts.events, 'event')} · <Ago at={subject.lastSeenAt} />
                  </small>
                </div>
              )
            })}
          </div>
        ))}
      </div>
      <p role="status" class="search-note">
        {found.error ? found.error.message : found.isLoading && groups.length === 0 ? 'Searching…' : ''}
        {isNobody &&
          (hidden > 0
            ? `Your plan hides ${counted(hidden, 'data subject')} of this person. Press Enter for details.`
            : 'No results. Try an e-mail address, userId=42 or the start of an ID.')}
      </p>
      {groups.length > 0 && (
        <button type="button" class="search-all" tabIndex={-1} onClick={onShowAll}>
          <span>Show all results</span>
          <span>
            <span class="kbd" aria-hidden="true">
              ↵
            </span>
            <Icon name="next" />
          </span>
        </button>
      )}
    </div>
  )
}
