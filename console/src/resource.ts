import { type Query, QueryClient, type QueryKey, useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { ApiError, read } from './api.ts'

/**
 * All that the server said, by the path that was asked. What is known is shown at once, and asked for anew whenever a page that shows it
 * opens. Nothing is tried again by itself: a failure is shown with a button.
 */
export const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 0,
      gcTime: 5 * 60_000,
      retry: false,
      networkMode: 'always',
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    },
  },
})

/** Something on the server, as far as it has come. While another is fetched in its place, what was there before stays. */
export interface Resource<Data> {
  data: Data | null
  error: ApiError | null
  /** Whether what it shows is not yet what was asked for. */
  isLoading: boolean
  reload(): void
}

interface ResourceOptions<Data> {
  /** After how long to look again by itself, by what is known; `false` for not at all. */
  pollMs?(data: Data | undefined): number | false
}

/** A path of the server's, fetched anew whenever the path changes; `null` for nothing yet. */
export function useResource<Data>(path: string | null, options?: ResourceOptions<Data>): Resource<Data> {
  return useFetched(path, read<Data>, options)
}

/** What a text stands for, fetched anew whenever the text changes; `null` for nothing yet. */
export function useFetched<Data>(
  what: string | null,
  fetchIt: (what: string, signal: AbortSignal) => Promise<Data>,
  { pollMs = () => false }: ResourceOptions<Data> = {},
): Resource<Data> {
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery<Data, unknown>({
    queryKey: [what],
    queryFn: ({ signal }) => fetchIt(what ?? '', signal),
    enabled: what !== null,
    // Where nothing is wanted any more, nothing stays.
    ...(what !== null && { placeholderData: keepUnlessForgotten }),
    refetchInterval: ({ state }) => pollMs(state.data),
  })
  const failure = toFailure(error)
  return {
    data: data ?? null,
    // What is known stays when it cannot be had anew, but for what is not there any more.
    error: data === undefined || failure?.status === 404 ? failure : null,
    isLoading: isPlaceholderData || (data === undefined && (isFetching || failure === null)),
    reload: () => void refetch(),
  }
}

/** What was fetched before, unless it was dropped: who has been erased meanwhile must not be shown while others are looked for. */
function keepUnlessForgotten<Data>(data: Data | undefined, of?: Query<Data, unknown>): Data | undefined {
  return of && cache.getQueryCache().get(of.queryHash) === of ? data : undefined
}

/** A page of a list. */
interface ListPage {
  nextCursor: string | null
}

/** A list of which more comes as it is wanted. */
interface PagedResource<Page extends ListPage> {
  pages: Page[]
  error: ApiError | null
  hasMore: boolean
  isLoading: boolean
  /** Fetches the next page, unless one is on its way. */
  loadMore(): void
  reload(): void
}

/** The pages of a list from the first on, one behind the other. `path` has its query; the cursor is added to it. */
export function usePages<Page extends ListPage>(path: string): PagedResource<Page> {
  const query = useInfiniteQuery<Page, unknown, { pages: Page[] }, QueryKey, string | null>({
    queryKey: [path, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      read<Page>(pageParam === null ? path : `${path}&cursor=${encodeURIComponent(pageParam)}`, signal),
    initialPageParam: null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    // A list of thousands is not fetched again page by page because somebody came back to it.
    staleTime: Number.POSITIVE_INFINITY,
    // Nor is it compared with itself whenever it grows.
    structuralSharing: false,
  })
  return {
    pages: query.data?.pages ?? [],
    error: toFailure(query.error),
    hasMore: query.hasNextPage,
    isLoading: query.isFetching,
    loadMore: () => {
      if (!query.isFetching) void query.fetchNextPage({ cancelRefetch: false })
    },
    reload: () => void (query.data ? query.fetchNextPage() : query.refetch()),
  }
}

/** Has all that was fetched from below a path fetched anew, now or when it is shown again: something there was changed. */
export function refresh(path: string): Promise<void> {
  return cache.invalidateQueries({ predicate: ({ queryKey }) => isBelow(path, queryKey) })
}

/** Drops all that was fetched from below a path: it must not be shown again. */
export function forget(path: string): void {
  cache.removeQueries({ predicate: ({ queryKey }) => isBelow(path, queryKey) })
}

function isBelow(path: string, [asked]: QueryKey): boolean {
  return (
    typeof asked === 'string' &&
    asked.startsWith(path) &&
    (asked === path || ['/', '?'].includes(asked.charAt(path.length)))
  )
}

export function toFailure(error: unknown): ApiError | null {
  if (error === null || error === undefined) return null
  return error instanceof ApiError ? error : unexpected(error)
}

export function unexpected(error: unknown): ApiError {
  return new ApiError(0, 'unexpected', error instanceof Error ? error.message : String(error), null)
}
