import { useState } from 'preact/hooks'
import { Button } from './button.tsx'

/** The cursors that led to the page at hand; the first page has none. */
export interface Paging {
  cursor: string | null
  number: number
  next(cursor: string): void
  previous(): void
  restart(): void
}

export function usePaging(): Paging {
  const [trail, setTrail] = useState<string[]>([])
  return {
    cursor: trail.at(-1) ?? null,
    number: trail.length + 1,
    next: (cursor) => setTrail((all) => [...all, cursor]),
    previous: () => setTrail((all) => all.slice(0, -1)),
    restart: () => setTrail([]),
  }
}

/** Leads through the pages of a list. Nothing where one page is all. */
export function Pager({
  paging,
  nextCursor,
  label,
}: {
  paging: Paging
  nextCursor: string | null
  label: string
}) {
  if (paging.number === 1 && nextCursor === null) return null
  return (
    <nav class="pager" aria-label={label}>
      <Button icon="back" isDisabled={paging.number === 1} onClick={paging.previous}>
        Previous
      </Button>
      <span aria-current="page">Page {paging.number}</span>
      <Button isDisabled={nextCursor === null} onClick={() => nextCursor !== null && paging.next(nextCursor)}>
        Next
      </Button>
    </nav>
  )
}
