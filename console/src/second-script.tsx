import { useEffect, useState } from 'preact/hooks'
import { NotFoundPage } from './components/page.tsx'
import { LoadError, Skeleton } from './components/states.tsx'
import { toFailure } from './resource.ts'
import { firstMatch } from './router.tsx'

type SecondScript = typeof import('./more-pages.tsx')

let loaded: SecondScript | null = null

/** Loads the second script, once. */
async function load(): Promise<SecondScript> {
  loaded ??= await import('./more-pages.tsx')
  return loaded
}

/** A page of the second script. */
export function MorePages({ path }: { path: string }) {
  const [script, setScript] = useState(loaded)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    if (!script) load().then(setScript, setError)
  }, [])
  if (script) return <>{firstMatch(script.morePages, path) ?? <NotFoundPage />}</>
  const failure = toFailure(error)
  return (
    <main id="content" class="page">
      {failure ? (
        // After an upgrade of the service, only a new page load knows where its scripts are.
        <LoadError error={failure} onRetry={() => location.reload()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </main>
  )
}
