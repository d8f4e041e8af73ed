import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Failure, Field } from '../components/field.tsx'
import { showToast } from '../components/toasts.tsx'
import { When } from '../components/when.tsx'
import { useForm } from '../form.ts'
import { refresh } from '../resource.ts'
import { useSession } from '../session.tsx'

export function PasswordCard() {
  const { joinedAt, isConnected } = useSession().member
  const [isChanging, setChanging] = useState(false)
  const stop = () => setChanging(false)
  return (
    <section class="card" aria-labelledby="password">
      <header>
        <h2 id="password">Password</h2>
        {joinedAt !== null && <Button onClick={() => setChanging(true)}>Change password</Button>}
      </header>
      <p>
        {joinedAt === null ? (
          isConnected ? (
            'You sign in by single sign-on, and have no password.'
          ) : (
            'You have no password. An admin can create a link to set one.'
          )
        ) : (
          <>
            Set <When at={joinedAt} as="day" />.{isConnected && ' You can also sign in by single sign-on.'}
          </>
        )}
      </p>
      {isChanging && <ChangePassword onClose={stop} />}
    </section>
  )
}

function ChangePassword({ onClose }: { onClose(): void }) {
  const { email } = useSession().member
  const [currentPassword, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const form = useForm('currentPassword', 'password')
  return (
    <Dialog title="Change password" onClose={onClose}>
      <form
        noValidate
        onSubmit={form.submit(async () => {
          await change('/account/password', { currentPassword, password })
          onClose()
          showToast('Password changed')
          void refresh('/session')
        })}
      >
        <input type="email" autocomplete="username" value={email} readOnly hidden />
        <Field
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={currentPassword}
          onInput={setCurrent}
          problem={form.fields.currentPassword && 'The current password is not right. Try again.'}
          hasFocus
        />
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          value={password}
          onInput={setPassword}
          problem={form.fields.password}
          hint="At least 12 characters. A few words are easier to remember than symbols."
        />
        <p class="note">You will be signed out everywhere else.</p>
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            Change password
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
