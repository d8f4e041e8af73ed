import { useEffect, useState } from 'preact/hooks'
import { ApiError, change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { LoadError, Skeleton } from '../components/states.tsx'
import { unexpected } from '../resource.ts'
import { Link, navigate } from '../router.tsx'
import { announce, completeSignIn } from '../session.tsx'
import { forgetPurpose, goToProvider, type Purpose, purposeOfReturn, returnPath } from '../single-sign-on.ts'
import type { SingleSignOn } from '../types.ts'
import { destination, SecondStep, SignInFrame } from './sign-in.tsx'

/**
 * Where the identity provider sends the browser back to. It finishes the sign-in with a request of this page,
 * because browsers do not send the cookies of the console with a visit from another site.
 */
export function SingleSignOnPage() {
  const [{ search, hash }] = useState(() => ({ search: location.search, hash: location.hash }))
  const [outcome, setOutcome] = useState<SingleSignOn | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const [isDone, setDone] = useState(false)
  const fail = (error: unknown) => setError(error instanceof ApiError ? error : unexpected(error))
  useEffect(() => {
    // Keeps the code out of the history and the address bar.
    history.replaceState(null, '', returnPath)
    if (search !== '') void finish().catch(fail)
    else if (hash === '#verification' || hash === '#sign-in') {
      goToProvider({ for: hash === '#sign-in' ? 'sign-in' : 'verification' }).catch(fail)
    }
  }, [])
  async function finish(): Promise<void> {
    const found = await change<SingleSignOn>('/single-sign-on/finish', { query: search })
    if (found.organisations.length > 0 || found.prompt) return setOutcome(found)
    complete(purposeOfReturn())
  }
  function complete(purpose: Purpose): void {
    forgetPurpose()
    if ('to' in purpose) {
      completeSignIn(destination(purpose.to))
      return
    }
    announce('signed-in')
    setDone(true)
    // Browsers may refuse, if they do not know any more who opened this tab.
    window.close()
  }
  if (error) return <FailedPage error={error} />
  if (isDone) {
    return (
      <SignInFrame title="You are signed in">
        <p class="intro">Close this tab and continue in the other one.</p>
      </SignInFrame>
    )
  }
  if (outcome?.prompt) {
    const leave = () => navigate('/console/sign-in')
    return (
      <SecondStep prompt={outcome.prompt} onSignedIn={() => complete(purposeOfReturn())} onCancel={leave} />
    )
  }
  if (outcome) {
    return (
      <SignInFrame title="Choose an organisation">
        <p class="intro">Your account belongs to several organisations.</p>
        <div class="sign-in-choices">
          {outcome.organisations.map(({ id, name }) => (
            <Button key={id} onClick={() => void goToProvider(purposeOfReturn(), id).catch(fail)}>
              {name}
            </Button>
          ))}
        </div>
      </SignInFrame>
    )
  }
  if (search === '' && hash === '') {
    return (
      <SignInFrame title="Sign in again">
        <p class="intro">This page was reloaded before the sign-in was complete.</p>
        <BackToSignIn />
      </SignInFrame>
    )
  }
  return (
    <SignInFrame title="Signing in">
      <Skeleton lines={3} label="Signing in" />
    </SignInFrame>
  )
}

function FailedPage({ error }: { error: ApiError }) {
  const isOurs = error.status === 400 || error.status === 401 || error.status === 403
  return (
    <SignInFrame title="You could not be signed in">
      {isOurs ? (
        <p class="intro" role="alert">
          {error.message}
        </p>
      ) : (
        <LoadError error={error} />
      )}
      <BackToSignIn />
    </SignInFrame>
  )
}

function BackToSignIn() {
  return (
    <p>
      <Link to="/console/sign-in">Back to the sign-in page</Link>
    </p>
  )
}
