import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { useForm } from '../form.ts'
import { Button } from '../parts/button.tsx'
import { Failure, Field } from '../parts/field.tsx'
import { useAddress } from '../router.tsx'
import { enter } from '../session.tsx'
import { Door } from './door.tsx'

export function SignInPage() {
  const { query } = useAddress()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [organisationId, setOrganisation] = useState(query.get('org') ?? '')
  const form = useForm()
  return (
    <Door title="Sign in">
      <form
        onSubmit={form.submit(async () => {
          await change('/sign-in', { email, password, ...(organisationId !== '' && { organisationId }) })
          enter(destination(query.get('to')))
        })}
      >
        <Field
          label="E-mail address"
          type="email"
          autoComplete="username"
          value={email}
          onInput={setEmail}
          problem={form.fields.email}
          hasFocus
        />
        <Field
          label="Password"
          type="password"
          autoComplete="current-password"
          value={password}
          onInput={setPassword}
          problem={form.fields.password}
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
      <p class="note">
        No password yet? Ask another member for a new link. Forgot your password? Ask your operator to run{' '}
        <code>lethe members link</code>.
      </p>
    </Door>
  )
}

/** Where somebody wanted to go; nowhere outside the console, whatever the address says. */
function destination(to: string | null): string {
  return to !== null && /^\/console(\/|$)/.test(to) && !to.startsWith('/console/sign-in')
    ? to
    : '/console/trackers'
}
