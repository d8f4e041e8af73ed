import { useEffect, useId, useState } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'

/** Searches as one types, once the typing pauses. */
export function PrefixSearch({ prefix, onSearch }: { prefix: string; onSearch(prefix: string): void }) {
  const [text, setText] = useState(prefix)
  const id = useId()
  // Only typing starts a search.
  useEffect(() => {
    if (text === prefix) return
    const timer = setTimeout(() => onSearch(text), 250)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <search class="field search">
      <label for={id} class="visually-hidden">
        ID prefix
      </label>
      <Icon name="search" />
      <input
        id={id}
        type="search"
        class="code"
        placeholder="Filter by ID prefix…"
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </search>
  )
}
