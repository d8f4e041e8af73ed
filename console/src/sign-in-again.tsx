import { useEffect, useRef, useState } from 'preact/hooks'
import { change, isSignedIn, onSignedOut } from './api.ts'
import { Button } from './components/button.tsx'
import { Dialog } from './components/dialog.tsx'
import { Failure } from './components/field.tsx'
import { ProofForm } from './components/proof-form.tsx'
import { useForm } from './form.ts'
import { useResource } from './resource.ts'
import { announce, completeSignOut, isStillMember, onSignedInElsewhere, useSession } from './session.tsx'
import { SignInFields } from './sign-in-fields.tsx'
import { returnPath } from './single-sign-on.ts'
import type { ProofPrompt, SignInStep, SignInWays } from './types.ts'

/**
 * Asks for the password when the session has expired, over the hidden page and what was typed there. The
 * request that failed is then sent again.
 */
export function SignInAgain() {
  const { member, organisation } = useSession()
  const [email, setEmail] = useState(member.email)
  const [password, setPassword] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [prompt, setPrompt] = useState<ProofPrompt | null>(null)
  const waiting = useRef<((isBack: boolean) => void)[]>([])
  const form = useForm('email', 'password')
  const { data: ways } = useResource<SignInWays>(isOpen ? '/sign-in' : null)
  useEffect(() => {
    onSignedOut(async () => {
      if (await isSignedIn()) return isStillMember(member.id)
      setOpen(true)
      return new Promise((resolve) => waiting.current.push(resolve))
    })
    return () => onSignedOut(async () => false)
  }, [])
  useEffect(() => (isOpen ? onSignedInElsewhere(() => void goOn().catch(() => {})) : undefined), [isOpen])
  function end(isBack: boolean): void {
    setOpen(false)
    setPassword('')
    setPrompt(null)
    for (const resolve of waiting.current.splice(0)) resolve(isBack)
  }
  async function signIn(): Promise<void> {
    const credentials = { email, password, organisationId: organisation.id }
    const { prompt } = await change<SignInStep>('/sign-in', credentials)
    setPrompt(prompt)
    if (!prompt) await finish()
  }
  async function finish(): Promise<void> {
    announce('signed-in')
    await goOn()
  }
  async function goOn(): Promise<void> {
    if (await isStillMember(member.id)) end(true)
  }
  function giveUp(): void {
    end(false)
    completeSignOut()
  }
  if (!isOpen) return null
  return (
    <Dialog title="Sign in" onClose={giveUp} isCurtain>
      <div class="prose">
        <p>Your session has expired. Sign in again to continue where you left off.</p>
      </div>
      {prompt && (
        <ProofForm
          prompt={prompt}
          cancel="Sign out"
          onCancel={giveUp}
          onAnswer={async (answer) => {
            await change('/sign-in/second-factor', { token: prompt.token, ...answer })
            await finish()
          }}
        />
      )}
      <form hidden={prompt !== null} onSubmit={form.submit(signIn)}>
        <SignInFields
          email={email}
          onEmail={setEmail}
          password={password}
          onPassword={setPassword}
          problems={form.fields}
          focus="password"
        />
        <Failure failure={form.failure} />
        {ways?.singleSignOn && (
          <p>
            <a href={`${returnPath}#sign-in`} target="_blank" rel="noopener">
              Sign in with {ways.singleSignOn} in another tab
            </a>
          </p>
        )}
        <footer class="dialog-foot">
          <Button onClick={giveUp}>Sign out</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            Sign in
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
