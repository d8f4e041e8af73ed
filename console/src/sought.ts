import { useEffect, useState } from 'preact/hooks'

// Kept here and nowhere else: whom somebody looks for does not belong into an address, a history or a storage.
let sought = ''
const changed = 'lethe:sought'

/** Remembers whom somebody looks for, until the page is left. */
export function seek(text: string): void {
  sought = text
  dispatchEvent(new Event(changed))
}

/** Whom somebody looks for; an empty text for nobody. */
export function useSought(): string {
  const [text, setText] = useState(sought)
  useEffect(() => {
    const update = () => setText(sought)
    update()
    addEventListener(changed, update)
    return () => removeEventListener(changed, update)
  }, [])
  return text
}
