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
  const [state, setState] = useState<{ path: string | null; data: Data | null; error: ApiError | null }>({
    path: null,
    data: null,
    error: null,
  })
  const [attempt, setAttempt] = useState(0)
  const [isLoading, setLoading] = useState(path !== null)
  // A new attempt fetches the same path again.
  useEffect(() => {
    if (path === null) return
    const leaving = new AbortController()
    setLoading(true)
    read<Data>(path, leaving.signal)
      .then((data) => setState({ path, data, error: null }))
      .catch((error: unknown) => {
        if (leaving.signal.aborted) return
        setState({ path, data: null, error: error instanceof ApiError ? error : unexpected(error) })
      })
      .finally(() => {
        if (!leaving.signal.aborted) setLoading(false)
      })
    return () => leaving.abort()
  }, [path, attempt])
  const reload = useCallback(() => setAttempt((count) => count + 1), [])
  return { data: state.data, error: state.error, isLoading: isLoading || state.path !== path, reload }
}

export function unexpected(error: unknown): ApiError {
  return new ApiError(0, 'unexpected', error instanceof Error ? error.message : String(error), null)
}
