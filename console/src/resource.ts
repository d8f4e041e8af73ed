import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError, read } from './api.ts'

/** Something on the server, as far as it has come. While it is fetched anew, what was there before stays. */
export interface Resource<Data> {
  data: Data | null
  error: ApiError | null
  isLoading: boolean
  reload(): void
}

/** Fetches a path of the server's, anew whenever the path changes; `null` for nothing yet. */
export function useResource<Data>(path: string | null): Resource<Data> {
  return useFetched(path, read<Data>)
}

/** Fetches what a text stands for, anew whenever the text changes; `null` for nothing yet. */
export function useFetched<Data>(
  what: string | null,
  fetchIt: (what: string, signal: AbortSignal) => Promise<Data>,
): Resource<Data> {
  const [state, setState] = useState<{ what: string | null; data: Data | null; error: ApiError | null }>({
    what: null,
    data: null,
    error: null,
  })
  const [attempt, setAttempt] = useState(0)
  const [isLoading, setLoading] = useState(what !== null)
  // A new attempt fetches the same again.
  useEffect(() => {
    if (what === null) return
    const leaving = new AbortController()
    setLoading(true)
    fetchIt(what, leaving.signal)
      .then((data) => setState({ what, data, error: null }))
      .catch((error: unknown) => {
        if (leaving.signal.aborted) return
        setState({ what, data: null, error: error instanceof ApiError ? error : unexpected(error) })
      })
      .finally(() => {
        if (!leaving.signal.aborted) setLoading(false)
      })
    return () => leaving.abort()
  }, [what, attempt])
  const reload = useCallback(() => setAttempt((count) => count + 1), [])
  return { data: state.data, error: state.error, isLoading: isLoading || state.what !== what, reload }
}

export function unexpected(error: unknown): ApiError {
  return new ApiError(0, 'unexpected', error instanceof Error ? error.message : String(error), null)
}
