import { type Query, QueryClient, type QueryKey, useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { ApiError, read } from './api.ts'

/**
 * All responses by path. Cached data is shown immediately, and fetched again whenever a page that shows it
 * opens. Failed requests are not repeated automatically: the error is shown with a button.
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

/** Data from the server. The previous data stays while other data is loading. */
export interface Resource<Data> {
  data: Data | null
  error: ApiError | null
  /** Whether `data` is not yet what was requested. */
  isLoading: boolean
  reload(): void
}

interface ResourceOptions<Data> {
  /** When to fetch again, depending on the data; `false` for never. */
  pollMs?(data: Data | undefined): number | false
}

/** Data at a path, fetched again whenever the path changes; `null` fetches nothing. */
export function useResource<Data>(path: string | null, options?: ResourceOptions<Data>): Resource<Data> {
  return useFetched(path, read<Data>, options)
}

/** Data by a key, fetched again whenever the key changes; `null` fetches nothing. */
export function useFetched<Data>(
  what: string | null,
  fetchIt: (what: string, signal: AbortSignal) => Promise<Data>,
  { pollMs = () => false }: ResourceOptions<Data> = {},
): Resource<Data> {
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery<Data, unknown>({
    queryKey: [what],
    queryFn: ({ signal }) => fetchIt(what ?? '', signal),
    enabled: what !== null,
    // Without a key, no previous data stays.
    ...(what !== null && { placeholderData: keepUnlessForgotten }),
    refetchInterval: ({ state }) => pollMs(state.data),
  })
  const failure = toFailure(error)
  return {
    data: data ?? null,
    // Data stays when fetching it again fails, unless it no longer exists.
    error: data === undefined || failure?.status === 404 ? failure : null,
    isLoading: isPlaceholderData || (data === undefined && (isFetching || failure === null)),
    reload: () => void refetch(),
  }
}

/**
 * The previous data, unless it was removed from the cache: an erased person must not stay visible during a
 * search.
 */
function keepUnlessForgotten<Data>(data: Data | undefined, of?: Query<Data, unknown>): Data | undefined {
  return of && cache.getQueryCache().get(of.queryHash) === of ? data : undefined
}

/** A page of a list. */
interface ListPage {
  nextCursor: string | null
}

/** A list that loads more pages on demand. */
interface PagedResource<Page extends ListPage> {
  pages: Page[]
  error: ApiError | null
  hasMore: boolean
  isLoading: boolean
  /** Fetches the next page, unless one is loading. */
  loadMore(): void
  reload(): void
}

/** All pages of a list by a key, loaded one after the other. */
export function usePages<Page extends ListPage>(
  what: string,
  fetchPage: (cursor: string | null, signal: AbortSignal) => Promise<Page>,
): PagedResource<Page> {
  const query = useInfiniteQuery<Page, unknown, { pages: Page[] }, QueryKey, string | null>({
    queryKey: [what, 'pages'],
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    // Coming back does not fetch thousands of rows again.
    staleTime: Number.POSITIVE_INFINITY,
    // Comparing a long list with its predecessor is expensive.
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

/** Marks all data below a path as stale after a change: it is fetched again now or when it is next shown. */
export function refresh(path: string): Promise<void> {
  return cache.invalidateQueries({ predicate: ({ queryKey }) => isBelow(path, queryKey) })
}

/** Removes all data below a path from the cache: it must not be shown again. */
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
