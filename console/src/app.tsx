import { QueryClientProvider } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import { onForbidden } from './api.ts'
import { ErrorBoundary } from './components/page.tsx'
import { LoadError, Skeleton } from './components/states.tsx'
import { Toasts } from './components/toasts.tsx'
import { home } from './navigation.tsx'
import { RequestPage } from './pages/request.tsx'
import { RequestsPage } from './pages/requests.tsx'
import { SearchPage } from './pages/search.tsx'
import { JoinPage, SignInPage } from './pages/sign-in.tsx'
import { SingleSignOnPage } from './pages/single-sign-on.tsx'
import { cache, refresh, useResource } from './resource.ts'
import { firstMatch, navigate, route, useAddress } from './router.tsx'
import { MorePages } from './second-script.tsx'
import { SessionProvider, useOtherTabs } from './session.tsx'
import { Shell } from './shell.tsx'
import { SignInAgain } from './sign-in-again.tsx'
import { returnPath } from './single-sign-on.ts'
import type { SignedIn } from './types.ts'
import { VerifyAgain } from './verify-again.tsx'

/** The pages for members in the first script. The first match is shown. */
const firstPages = [
  route('/console/requests', () => <RequestsPage />),
  // Anything else is a page of the second script, such as the report.
  route('/console/requests/:requestId', (ids) => (isUuid(ids.requestId) ? <RequestPage {...ids} /> : null)),
  route('/console/search', () => <SearchPage />),
]

function isUuid(text: string): boolean {
  return /^[0-9a-f-]{36}$/i.test(text)
}

/** The console: three public pages, and the others for members. */
export function App() {
  const { path } = useAddress()
  return (
    <QueryClientProvider client={cache}>
      {path === '/console/join' ? (
        <JoinPage />
      ) : path === '/console/sign-in' ? (
        <SignInPage />
      ) : path === returnPath ? (
        <SingleSignOnPage />
      ) : (
        <Members path={path} />
      )}
      <Toasts />
    </QueryClientProvider>
  )
}

function Members({ path }: { path: string }) {
  const session = useResource<SignedIn>('/session')
  const isStranger = session.error?.status === 401
  useOtherTabs(session.data?.member.id)
  useEffect(() => {
    if (isStranger)
      navigate(
        `/console/sign-in?to=${encodeURIComponent(location.pathname + location.search)}${location.hash}`,
        { replace: true },
      )
  }, [isStranger])
  // A request that is refused for its role tells that the role has changed.
  useEffect(() => onForbidden(() => void refresh('/session')), [])
  useEffect(() => {
    if (path === '/console') navigate(home, { replace: true })
  }, [path])
  if (session.data?.missingFactor) {
    return (
      <SessionProvider value={session.data}>
        <MorePages path="/console/second-factor" />
        <VerifyAgain />
        <SignInAgain />
      </SessionProvider>
    )
  }
  if (session.data) {
    return (
      <SessionProvider value={session.data}>
        <Shell path={path}>
          <ErrorBoundary key={path}>{pageAt(path)}</ErrorBoundary>
        </Shell>
        <VerifyAgain />
        <SignInAgain />
      </SessionProvider>
    )
  }
  if (session.error && !isStranger) {
    return (
      <main class="alone">
        <LoadError error={session.error} onRetry={session.reload} />
      </main>
    )
  }
  return (
    <div class="shell waiting">
      <div class="sidebar" />
      <main class="page">
        <Skeleton lines={8} label="Loading the console" />
      </main>
    </div>
  )
}

function pageAt(path: string) {
  return path === '/console' ? null : (firstMatch(firstPages, path) ?? <MorePages path={path} />)
}
