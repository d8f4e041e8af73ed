import { useEffect } from 'preact/hooks'
import { hiddenCount, subjectAddress } from './find.ts'
import { Icon } from './parts/icon.tsx'
import { Id } from './parts/id.tsx'
import { Ago, counted } from './parts/when.tsx'
import type { Resource } from './resource.ts'
import type { FoundGroup, FoundGroups, FoundPerson } from './types.ts'

interface FoundOptionsProps {
  listId: string
  isShown: boolean
  groups: FoundGroup[]
  people: FoundPerson[]
  /** Which of all options the keyboard has come to. */
  marked: number
  found: Resource<FoundGroups>
  onOpen(to: string): void
  onShowAll(): void
}

/** What the search box found so far, by tracker. Always there, so that what comes in is read out. */
export function FoundOptions(props: FoundOptionsProps) {
  const { listId, isShown, groups, people, marked, found, onOpen, onShowAll } = props
  const hidden = hiddenCount(people)
  useEffect(() => {
    document.getElementById(`${listId}-${marked}`)?.scrollIntoView({ block: 'nearest' })
  }, [marked])
  let number = -1
  const isNobody = groups.length === 0 && !found.isLoading && found.error === null
  return (
    <div class="found-options" hidden={!isShown}>
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
                  class="found-option"
                  role="option"
                  aria-selected={mine === marked}
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
      <p role="status" class="found-note">
        {found.error ? found.error.message : found.isLoading && groups.length === 0 ? 'Searching…' : ''}
        {isNobody &&
          (hidden > 0
            ? `Your plan hides ${counted(hidden, 'data subject')} of this person. Press Enter for details.`
            : 'No results. Try an e-mail address, userId=42 or the start of an ID.')}
      </p>
      {groups.length > 0 && (
        <button type="button" class="found-all" tabIndex={-1} onClick={onShowAll}>
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
