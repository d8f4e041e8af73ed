import { useEffect, useState } from 'preact/hooks'
import { ApiError, change } from '../api.ts'
import { useForm } from '../form.ts'
import { Button } from '../parts/button.tsx'
import { Failure, Field } from '../parts/field.tsx'
import { Broken, Skeleton } from '../parts/states.tsx'
import { unexpected } from '../resource.ts'
import { Link } from '../router.tsx'
import { enter } from '../session.tsx'
import type { Invited } from '../types.ts'
import { Door } from './door.tsx'

/** Where a one-time link leads. Its token stands behind the hash, which browsers send to nobody. */
export function JoinPage() {
  const [token, setToken] = useState(() => location.hash.slice(1))
  const [invitation, setInvitation] = useState<Invited | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const [password, setPassword] = useState('')
  const form = useForm()
  // Who opens another link where this page is already does not load it anew.
  useEffect(() => {
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
    // Not for the history, and not for whoever looks over a shoulder.
    history.replaceState(null, '', location.pathname)
    change<Invited>('/invitation', { token })
      .then(setInvitation)
      .catch((error: unknown) => setError(error instanceof ApiError ? error : unexpected(error)))
  }, [token])
  if (token === '') {
    return (
      <Door title="Open the link again">
        <p class="intro">
          This page was reloaded, and it does not store the link. If the link has not been used yet, open it
          again.
        </p>
        <p>
          <Link to="/console/sign-in">Sign in instead</Link>
        </p>
      </Door>
    )
  }
  if (error) {
    const isExpired = error.status === 404
    return (
      <Door title={isExpired ? 'This link has expired or was already used' : 'This link could not be opened'}>
        {isExpired ? <p class="intro">Ask for a new link.</p> : <Broken error={error} />}
        <p>
          <Link to="/console/sign-in">Sign in instead</Link>
        </p>
      </Door>
    )
  }
  if (!invitation) {
    return (
      <Door title="Set a password">
        <Skeleton lines={4} />
      </Door>
    )
  }
  return (
    <Door title={invitation.hasPassword ? 'Set a new password' : `Welcome to ${invitation.organisation}`}>
      <p class="intro">
        Set a password for <strong>{invitation.email}</strong>. You will use it to sign in.
        {invitation.hasPassword && ' You will be signed out everywhere else.'}
      </p>
      <form
        onSubmit={form.submit(async () => {
          await change('/invitation/accept', { token, password })
          enter('/console/trackers')
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
          hasFocus
        />
        <Failure failure={form.failure} />
        <Button type="submit" kind="primary" isBusy={form.isBusy}>
          Set password and sign in
        </Button>
      </form>
    </Door>
  )
}
