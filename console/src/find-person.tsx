import { useState } from 'preact/hooks'
import { Icon } from './parts/icon.tsx'
import { navigate } from './router.tsx'
import { seek } from './sought.ts'

/** The field at the head of every page that leads from an address to a person. */
export function FindPerson() {
  const [text, setText] = useState('')
  return (
    <search class="find-person" aria-label="People">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() === '') return
          seek(text.trim())
          navigate('/console/search')
        }}
      >
        <label for="find-person" class="visually-hidden">
          Find a person by e-mail address, identifier or id
        </label>
        <input
          id="find-person"
          type="search"
          placeholder="Find a person…"
          value={text}
          maxLength={300}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          enterkeyhint="search"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" aria-label="Find the person">
          <Icon name="search" />
        </button>
      </form>
    </search>
  )
}
