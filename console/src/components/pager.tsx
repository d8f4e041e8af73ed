import { historyState, navigate, useAddress } from '../router.tsx'
import { numberParam } from '../search-params.ts'
import { Button } from './button.tsx'

/** Which page of a list is shown. It is part of the URL, so that Back and a reload show the same page. */
interface Paging {
  /** The cursor of the page; `null` for the first page. */
  cursor: string | null
  number: number
  next(cursor: string): void
  previous(): void
}

export function usePaging(): Paging {
  const { path, query } = useAddress()
  const cursor = query.get('after')
  const number = cursor === null ? 1 : numberParam.read(query.get('page'))
  function show(after: string | null, page: number, trail: string[]): void {
    const next = new URLSearchParams(location.search)
    if (after === null) next.delete('after')
    else next.set('after', after)
    if (after === null || page === 1) next.delete('page')
    else next.set('page', String(page))
    navigate(next.size > 0 ? `${path}?${next}` : path, { state: { trail } })
  }
  return {
    cursor,
    number,
    next(after) {
      const { trail = [] } = historyState()
      // Ignores a second click before the page has loaded.
      if (new URLSearchParams(location.search).get('after') === after) return
      show(after, number + 1, cursor === null ? [] : [...trail, cursor])
    },
    previous() {
      const { trail = [] } = historyState()
      // A page opened by a link has no trail, so Previous shows the first page.
      const before = trail.at(-1) ?? null
      show(before, before === null ? 1 : number - 1, trail.slice(0, -1))
    },
  }
}

/** Previous and Next buttons; nothing if there is only one page. */
export function Pager({
  paging,
  nextCursor,
  label,
}: {
  paging: Paging
  nextCursor: string | null
  label: string
}) {
  if (paging.cursor === null && nextCursor === null) return null
  return (
    <nav class="pager" aria-label={label}>
      <Button icon="back" isDisabled={paging.cursor === null} onClick={paging.previous}>
        Previous
      </Button>
      <span aria-current="page">Page {paging.number}</span>
      <Button isDisabled={nextCursor === null} onClick={() => nextCursor !== null && paging.next(nextCursor)}>
        Next
      </Button>
    </nav>
  )
}
