import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError, change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Failure, Field, focusWithin } from '../components/field.tsx'
import { Logo } from '../components/icon.tsx'
import { ProofForm } from '../components/proof-form.tsx'
import { LoadError, Skeleton } from '../components/states.tsx'
import { useForm } from '../form.ts'
import { askForPasskey, canUsePasskeys } from '../passkey.ts'
import { unexpected, useResource } from '../resource.ts'
import { Link, navigate, useAddress } from '../router.tsx'
import { completeSignIn } from '../session.tsx'
import { SignInFields } from '../sign-in-fields.tsx'
import { goToProvider } from '../single-sign-on.ts'
import type { Invited, PasskeyRequest, ProofPrompt, SignInStep, SignInWays } from '../types.ts'

export function SignInPage() {
  const { query } = useAddress()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [organisationId, setOrganisation] = useState(query.get('org') ?? '')
  const [prompt, setPrompt] = useState<ProofPrompt | null>(null)
  const form = useForm('email', 'password', 'organisationId')
  const passkeyForm = useForm()
  const finish = () => completeSignIn(destination(query.get('to')) + location.hash)
  if (prompt) {
    return <SecondStep prompt={prompt} onSignedIn={finish} onCancel={() => setPrompt(null)} />
  }
  return (
    <SignInFrame title="Sign in">
      <form
        onSubmit={form.submit(async () => {
          const credentials = { email, password, ...(organisationId !== '' && { organisationId }) }
          const { prompt } = await change<SignInStep>('/sign-in', credentials)
          setPrompt(prompt)
          if (!prompt) finish()
        })}
      >
        <SignInFields
          email={email}
          onEmail={setEmail}
          password={password}
          onPassword={setPassword}
          problems={form.fields}
          focus="email"
        />
        <details class="more" open={organisationId !== ''}>
          <summary>Member of several organisations?</summary>
          <Field
            label="Organisation ID"
            value={organisationId}
            onInput={setOrganisation}
            problem={form.fields.organisationId}
            hint="Required only if your e-mail address belongs to more than one organisation."
            isRequired={false}
          />
        </details>
        <Failure failure={form.failure} />
        <Button type="submit" kind="primary" isBusy={form.isBusy}>
          Sign in
        </Button>
      </form>
      {canUsePasskeys() && (
        <form
          class="passkey-sign-in"
          onSubmit={passkeyForm.submit(async () => {
            const passkey = await askForPasskey(await change<PasskeyRequest>('/sign-in/passkey/options'))
            await change('/sign-in/passkey', { passkey })
            finish()
          })}
        >
          <Failure failure={passkeyForm.failure} />
          <Button type="submit" isBusy={passkeyForm.isBusy}>
            Sign in with a passkey
          </Button>
        </form>
      )}
      <ProviderButton to={destination(query.get('to')) + location.hash} organisationId={organisationId} />
      <p class="note">No password yet, or forgot it? Ask an admin of your organisation for a link.</p>
    </SignInFrame>
  )
}

/** Asks for a second factor, after the password or a link. */
export function SecondStep(props: { prompt: ProofPrompt; onSignedIn(): void; onCancel(): void }) {
  const { prompt, onSignedIn, onCancel } = props
  return (
    <SignInFrame title="One more step">
      <p class="intro">Your account has a second factor.</p>
      <ProofForm
        prompt={prompt}
        cancel="Start again"
        onCancel={onCancel}
        onAnswer={async (answer) => {
          await change('/sign-in/second-factor', { token: prompt.token, ...answer })
          onSignedIn()
        }}
      />
    </SignInFrame>
  )
}

/** Leaves for the identity provider, if there is one. */
function ProviderButton({ to, organisationId }: { to: string; organisationId: string }) {
  const { data } = useResource<SignInWays>('/sign-in')
  const form = useForm()
  if (!data || data.singleSignOn === null) return null
  return (
    <form class="provider" onSubmit={form.submit(() => goToProvider({ to }, organisationId))}>
      <Failure failure={form.failure} />
      <Button type="submit" isBusy={form.isBusy}>
        Sign in with {data.singleSignOn}
      </Button>
    </form>
  )
}

/** The page to open after signing in, never outside the console. */
export function destination(to: string | null): string {
  return to !== null && /^\/console(\/|$)/.test(to) && !to.startsWith('/console/sign-in') ? to : '/console'
}

/** The page of a one-time link. Its token is in the hash, which browsers do not send. */
export function JoinPage() {
  const [token, setToken] = useState(() => location.hash.slice(1))
  const [invitation, setInvitation] = useState<Invited | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const [password, setPassword] = useState('')
  const [prompt, setPrompt] = useState<ProofPrompt | null>(null)
  const form = useForm('password')
  // Opening another link in this tab only changes the hash. A layout effect, because it may follow at once.
  useLayoutEffect(() => {
    const take = () => {
      if (location.hash === '') return
      setInvitation(null)
      setError(null)
      setToken(location.hash.slice(1))
    }
    addEventListener('hashchange', take)
    return () => removeEventListener('hashchange', take)
  }, [])
  useEffect(() => {
    if (token === '') return
    // Keeps the token out of the history and the address bar.
    history.replaceState(null, '', location.pathname)
    let isCurrent = true
    change<Invited>('/invitation', { token })
      .then((invited) => isCurrent && setInvitation(invited))
      .catch((error: unknown) => {
        if (isCurrent) setError(error instanceof ApiError ? error : unexpected(error))
      })
    return () => {
      isCurrent = false
    }
  }, [token])
  if (prompt) {
    const leave = () => navigate('/console/sign-in')
    return <SecondStep prompt={prompt} onSignedIn={() => completeSignIn('/console')} onCancel={leave} />
  }
  if (token === '') {
    return (
      <SignInFrame title="Open the link again">
        <p class="intro">
          This page was reloaded, and it does not store the link. If the link has not been used yet, open it
          again.
        </p>
        <p>
          <Link to="/console/sign-in">Sign in instead</Link>
        </p>
      </SignInFrame>
    )
  }
  if (error) {
    const isExpired = error.status === 404
    return (
      <SignInFrame
        title={isExpired ? 'This link has expired or was already used' : 'This link could not be opened'}
      >
        {isExpired ? <p class="intro">Ask for a new link.</p> : <LoadError error={error} />}
        <p>
          <Link to="/console/sign-in">Sign in instead</Link>
        </p>
      </SignInFrame>
    )
  }
  if (!invitation) {
    return (
      <SignInFrame title="Set a password">
        <Skeleton lines={4} />
      </SignInFrame>
    )
  }
  const passwordForm = (
    <form
      onSubmit={form.submit(async () => {
        const { prompt } = await change<SignInStep>('/invitation/accept', { token, password })
        setPrompt(prompt)
        if (!prompt) completeSignIn('/console')
      })}
    >
      <input type="email" autocomplete="username" value={invitation.email} readOnly hidden />
      <Field
        label="Password"
        type="password"
        autoComplete="new-password"
        value={password}
        onInput={setPassword}
        problem={form.fields.password}
        hint="At least 12 characters. A few words are easier to remember than symbols."
        hasFocus={invitation.passwordAllowed}
      />
      <Failure failure={form.failure} />
      <Button type="submit" kind="primary" isBusy={form.isBusy}>
        Set password and sign in
      </Button>
    </form>
  )
  if (!invitation.passwordAllowed) {
    return (
      <SignInFrame title={`Welcome to ${invitation.organisation}`}>
        <p class="intro">
          This organisation does not accept passwords. Sign in with the account that has the address{' '}
          <strong>{invitation.email}</strong>.
        </p>
        <ProviderButton to="/console" organisationId={invitation.organisationId} />
        <details class="more">
          <summary>Single sign-on does not work?</summary>
          <p class="note">
            Setting a password with this link signs you in once. The password is not accepted afterwards,
            unless an admin allows passwords again in Settings.
          </p>
          {passwordForm}
        </details>
      </SignInFrame>
    )
  }
  return (
    <SignInFrame
      title={invitation.hasPassword ? 'Set a new password' : `Welcome to ${invitation.organisation}`}
    >
      <p class="intro">
        Set a password for <strong>{invitation.email}</strong>. You will use it to sign in.
        {invitation.hasPassword && ' You will be signed out everywhere else.'}
      </p>
      {passwordForm}
    </SignInFrame>
  )
}

/** The frame of the public pages. */
export function SignInFrame({ title, children }: { title: string; children: ComponentChildren }) {
  const ref = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    document.title = `${title} · Lethe`
    focusWithin(ref.current)
  }, [title])
  return (
    <main class="sign-in" ref={ref}>
      <div class="sign-in-card">
        <p class="sign-in-brand">
          <Logo /> <strong>Lethe</strong>
        </p>
        <h1>{title}</h1>
        {children}
      </div>
      <svg
        class="river"
        viewBox="0 0 1200 200"
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        {[0, 1, 2, 3, 4].map((i) => (
          <path
            key={i}
            opacity={0.9 - i * 0.17}
            d={`M0 ${30 + i * 34} C 200 ${-5 + i * 34}, 400 ${-5 + i * 34}, 600 ${30 + i * 34} S 1000 ${65 + i * 34}, 1200 ${30 + i * 34}`}
          />
        ))}
      </svg>
    </main>
  )
}
