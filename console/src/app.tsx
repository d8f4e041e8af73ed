import { useEffect, useState } from 'preact/hooks'
import { whenSignedOut } from './api.ts'
import { ActivityPage } from './pages/activity.tsx'
import { JoinPage } from './pages/join.tsx'
import { KeysPage } from './pages/keys.tsx'
import { MembersPage } from './pages/members.tsx'
import { NotFoundPage } from './pages/not-found.tsx'
import { SearchPage } from './pages/search.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { SubjectPage } from './pages/subject.tsx'
import { SubjectsPage } from './pages/subjects.tsx'
import { TrackersPage } from './pages/trackers.tsx'
import { Broken, Skeleton } from './parts/states.tsx'
import { Toasts } from './parts/toasts.tsx'
import { useResource } from './resource.ts'
import { match, navigate, useAddress } from './router.tsx'
import { SessionProvider } from './session.tsx'
import { Shell } from './shell.tsx'
import type { SignedIn } from './types.ts'

/** The console: its two pages for whoever comes, and the others for members. */
export function App() {
  const { path } = useAddress()
  return (
    <>
      {path === '/console/join' ? (
        <JoinPage />
      ) : path === '/console/sign-in' ? (
        <SignInPage />
      ) : (
        <Members path={path} />
      )}
      <Toasts />
    </>
  )
}

function Members({ path }: { path: string }) {
  const [isSignedOut, setSignedOut] = useState(false)
  const session = useResource<SignedIn>('/session')
  // Kept here and nowhere else: an address does not belong into the browser's history.
  const [search, setSearch] = useState({ text: '', number: 0 })
  function find(text: string): void {
    setSearch(({ number }) => ({ text, number: number + 1 }))
    navigate('/console/search')
  }
  useEffect(() => {
    whenSignedOut(() => setSignedOut(true))
  }, [])
  useEffect(() => {
    if (isSignedOut)
      navigate(`/console/sign-in?to=${encodeURIComponent(location.pathname)}`, { replace: true })
  }, [isSignedOut])
  useEffect(() => {
    if (path === '/console') navigate('/console/trackers', { replace: true })
  }, [path])
  if (session.data && !isSignedOut) {
    return (
      <SessionProvider value={session.data}>
        <Shell path={path} onFind={find}>
          {path === '/console/search' ? <SearchPage key={search.number} text={search.text} /> : pageAt(path)}
        </Shell>
      </SessionProvider>
    )
  }
  if (session.error && session.error.status !== 401) {
    return (
      <main class="alone">
        <Broken error={session.error} onRetry={session.reload} />
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
  if (path === '/console' || path === '/console/trackers') return <TrackersPage />
  if (path === '/console/keys') return <KeysPage />
  if (path === '/console/activity') return <ActivityPage />
  if (path === '/console/members') return <MembersPage />
  const subjects = match('/console/trackers/:trackerId', path)
  if (subjects) return <SubjectsPage key={path} trackerId={subjects.trackerId ?? ''} />
  const subject = match('/console/trackers/:trackerId/subjects/:subjectId', path)
  if (subject) {
    return <SubjectPage key={path} trackerId={subject.trackerId ?? ''} subjectId={subject.subjectId ?? ''} />
  }
  return <NotFoundPage />
}
