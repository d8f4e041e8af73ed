import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useForm } from '../form.ts'
import { askForPasskey } from '../passkey.ts'
import { returnPath } from '../single-sign-on.ts'
import type { ProofPrompt } from '../types.ts'
import { Button } from './button.tsx'
import { Failure, Field, focusWithin } from './field.tsx'

type ProofKind = ProofPrompt['proofs'][number]

interface ProofFormProps {
  prompt: ProofPrompt
  /** Sends the answer: a field and its value. */
  onAnswer(answer: object): Promise<void>
  onCancel(): void
  cancel: string
}

/** Asks for one of the proofs of identity that are possible. */
export function ProofForm({ prompt, onAnswer, onCancel, cancel }: ProofFormProps) {
  const { proofs, passkey } = prompt
  const [kind, setKind] = useState<ProofKind>(proofs[0] ?? 'password')
  const [typed, setTyped] = useState('')
  const form = useForm('password', 'code', 'passkey')
  const ref = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => focusWithin(ref.current), [kind])
  async function answer(): Promise<void> {
    if (kind === 'passkey') return onAnswer({ passkey: passkey && (await askForPasskey(passkey)) })
    await onAnswer(kind === 'password' ? { password: typed } : { code: typed })
  }
  const field = fields[kind]
  return (
    <form key={kind} ref={ref} noValidate onSubmit={form.submit(answer)}>
      {field ? (
        <Field
          {...field}
          value={typed}
          onInput={setTyped}
          problem={form.fields.password ?? form.fields.code}
          hasFocus
        />
      ) : (
        <p>
          {kind === 'passkey'
            ? 'Your browser will ask you for your passkey.'
            : 'Sign in to your identity provider again in another tab. This page then continues.'}
        </p>
      )}
      <Failure failure={form.failure} />
      {form.fields.passkey !== undefined && (
        <p class="note problem" role="alert" tabIndex={-1}>
          The passkey was not accepted. Try again, or use something else.
        </p>
      )}
      <footer class="dialog-foot">
        <Button onClick={onCancel}>{cancel}</Button>
        {kind === 'single-sign-on' ? (
          <a class="button primary" href={`${returnPath}#verification`} target="_blank" rel="noopener">
            <span>Continue in another tab</span>
          </a>
        ) : (
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            {kind === 'passkey' ? 'Use a passkey' : 'Continue'}
          </Button>
        )}
      </footer>
      {proofs.length > 1 && (
        <p class="other-proofs">
          {proofs
            .filter((each) => each !== kind)
            .map((each) => (
              <Button
                key={each}
                kind="quiet"
                onClick={() => {
                  setTyped('')
                  setKind(each)
                }}
              >
                {others[each]}
              </Button>
            ))}
        </p>
      )}
    </form>
  )
}

const fields: Partial<Record<ProofKind, TypedProof>> = {
  password: { label: 'Password', type: 'password', autoComplete: 'current-password' },
  totp: {
    label: 'Code',
    autoComplete: 'one-time-code',
    hint: 'The six digits that your authenticator app shows now.',
  },
  'recovery-code': { label: 'Recovery code', hint: 'Each code works once.' },
}

interface TypedProof {
  label: string
  type?: 'password'
  autoComplete?: string
  hint?: string
}

const others: Record<ProofKind, string> = {
  passkey: 'Use a passkey instead',
  totp: 'Use a code from your app instead',
  'recovery-code': 'Use a recovery code instead',
  password: 'Use your password instead',
  'single-sign-on': 'Use single sign-on instead',
}
