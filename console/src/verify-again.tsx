import { useEffect, useRef, useState } from 'preact/hooks'
import { change, onVerification } from './api.ts'
import { Dialog } from './components/dialog.tsx'
import { ProofForm } from './components/proof-form.tsx'
import { showFailure } from './components/toasts.tsx'
import { isStillMember, onSignedInElsewhere, useSession } from './session.tsx'
import type { ProofPrompt } from './types.ts'

/** Asks for a proof of identity when a request needs a recent one. The request is then sent again. */
export function VerifyAgain() {
  const { member } = useSession()
  const [prompt, setPrompt] = useState<ProofPrompt | null>(null)
  const waiting = useRef<((isVerified: boolean) => void)[]>([])
  useEffect(() => {
    onVerification(() => {
      const isFirst = waiting.current.length === 0
      const verified = new Promise<boolean>((resolve) => waiting.current.push(resolve))
      if (isFirst) {
        change<ProofPrompt>('/verification/options')
          .then(setPrompt)
          .catch((error: unknown) => {
            showFailure(error)
            end(false)
          })
      }
      return verified
    })
    return () => onVerification(async () => false)
  }, [])
  // The identity provider is in another tab.
  useEffect(() => (prompt ? onSignedInElsewhere(() => void goOn().catch(() => {})) : undefined), [prompt])
  async function goOn(): Promise<void> {
    if (await isStillMember(member.id)) end(true)
  }
  function end(isVerified: boolean): void {
    setPrompt(null)
    for (const resolve of waiting.current.splice(0)) resolve(isVerified)
  }
  if (!prompt) return null
  return (
    <Dialog title="Confirm that it is you" onClose={() => end(false)}>
      <div class="prose">
        <p>
          You are about to do something that cannot be undone, or that gives access. You will not be asked
          again for ten minutes.
        </p>
      </div>
      <ProofForm
        prompt={prompt}
        cancel="Cancel"
        onCancel={() => end(false)}
        onAnswer={async (answer) => {
          await change('/verification', { token: prompt.token, ...answer })
          end(true)
        }}
      />
    </Dialog>
  )
}
