import { useEffect, useState } from 'preact/hooks'
import { cache } from './resource.ts'

// Kept here and nowhere else: whom somebody looks for does not belong into an address, a history or a storage.
let sought = ''
let listed = ''
const changed = 'lethe:sought'

/** Remembers whom somebody looks for, until the page is left. An empty text forgets it, with all that was found. */
export function seek(text: string): void {
  sought = text
  if (text === '')
    cache.removeQueries({ predicate: ({ queryKey }) => /^(find|search) /.test(String(queryKey[0])) })
  dispatchEvent(new Event(changed))
}

/** Calls back with whom somebody looks for, whenever that changes. */
export function onSought(listen: (text: string) => void): () => void {
  const update = () => listen(sought)
  addEventListener(changed, update)
  return () => removeEventListener(changed, update)
}

/** Whom somebody looks for; an empty text for nobody. */
export function useSought(): string {
  const [text, setText] = useState(sought)
  useEffect(() => {
    setText(sought)
    return onSought(setText)
  }, [])
  return text
}

/** Hands ids over to the form of a new batch, one a line. */
export function listForBatch(ids: readonly string[]): void {
  listed = ids.join('\n')
}

/** The ids that were handed over, once. */
export function takeListed(): string {
  const text = listed
  listed = ''
  return text
}
