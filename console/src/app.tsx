import { QueryClientProvider } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import { ErrorBoundary, NotFoundPage } from './components/page.tsx'
import { LoadError, Skeleton } from './components/states.tsx'
import { Toasts } from './components/toasts.tsx'
import { ActivityPage } from './pages/activity.tsx'
import { BatchPage } from './pages/batch.tsx'
import { BatchesPage } from './pages/batches.tsx'
import { CertificatePage, FormerCertificatePage } from './pages/certificate.tsx'
import { ErasuresPage } from './pages/erasures.tsx'
import { KeyPage } from './pages/key.tsx'
import { KeysPage } from './pages/keys.tsx'
import { MembersPage } from './pages/members.tsx'
import { NewBatchPage } from './pages/new-batch.tsx'
import { ReplyTextsPage } from './pages/reply-texts.tsx'
import { SearchPage } from './pages/search.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { JoinPage, SignInPage } from './pages/sign-in.tsx'
import { SubjectPage } from './pages/subject.tsx'
import { TrackerPage } from './pages/tracker.tsx'
import { TrackersPage } from './pages/trackers.tsx'
import { VariablesPage } from './pages/variables.tsx'
import { cache, useResource } from './resource.ts'
import { navigate, route, useAddress } from './router.tsx'
import { SessionProvider, useOtherTabs } from './session.tsx'
import { Shell } from './shell.tsx'
import { SignInAgain } from './sign-in-again.tsx'
import type { SignedIn } from './types.ts'

/** The pages for members. The first match is shown. */
const routes = [
  route('/console/trackers', () => <TrackersPage />),
  route('/console/trackers/:trackerId', ({ trackerId }) => <TrackerPage trackerId={trackerId} />),
  route('/console/trackers/:trackerId/variables', (ids) => <VariablesPage {...ids} />),
  route('/console/trackers/:trackerId/subjects/:subjectId', (ids) => <SubjectPage {...ids} />),
  route('/console/search', () => <SearchPage />),
  route('/console/batches', () => <BatchesPage />),
  route('/console/batches/new', () => <NewBatchPage />),
  route('/console/batches/:batchId', (ids) => <BatchPage {...ids} />),
  route('/console/erasures', () => <ErasuresPage />),
  route('/console/erasures/certificates/:of', (ids) => <CertificatePage {...ids} />),
  route('/console/erasures/:indexes', (ids) => <FormerCertificatePage {...ids} />),
  route('/console/keys', () => <KeysPage />),
  route('/console/keys/:keyId', (ids) => <KeyPage {...ids} />),
  route('/console/activity', () => <ActivityPage />),
  route('/console/members', () => <MembersPage />),
  route('/console/settings', () => <SettingsPage />),
  route('/console/settings/replies', () => <ReplyTextsPage />),
]

/** The console: two public pages, and the others for members. */
export function App() {
  const { path } = useAddress()
  return (
    <QueryClientProvider client={cache}>
      {path === '/console/join' ? (
        <JoinPage />
      ) : path === '/console/sign-in' ? (
        <SignInPage />
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
      navigate(`/console/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`, {
        replace: true,
      })
  }, [isStranger])
  useEffect(() => {
    if (path === '/console') navigate('/console/trackers', { replace: true })
  }, [path])
  if (session.data) {
    return (
      <SessionProvider value={session.data}>
        <Shell path={path}>
          <ErrorBoundary key={path}>{pageAt(path)}</ErrorBoundary>
        </Shell>
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
  if (path === '/console') return null
  for (const each of routes) {
    const page = each.at(path)
    if (page !== null) return page
  }
  return <NotFoundPage />
}
