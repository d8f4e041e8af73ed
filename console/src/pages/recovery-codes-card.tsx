import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm, Dialog } from '../components/dialog.tsx'
import { CopyField } from '../components/field.tsx'
import { counted } from '../components/when.tsx'
import { refresh } from '../resource.ts'
import type { AddedFactor, RecoveryCodes, SecondFactors } from '../types.ts'

export const factorsPath = '/account/second-factors'

/** Shows what has changed: the member may now do more than before, and other sessions may have ended. */
export function refreshFactors(): void {
  void refresh(factorsPath)
  void refresh('/account/sign-ins')
  void refresh('/session')
}

export function RecoveryCodesCard({ factors }: { factors: SecondFactors }) {
  const [isReplacing, setReplacing] = useState(false)
  const [codes, setCodes] = useState<string[] | null>(null)
  const hasFactor = factors.passkeys.length > 0 || factors.totp !== null
  return (
    <section class="card" aria-labelledby="recovery-codes">
      <header>
        <h2 id="recovery-codes">Recovery codes</h2>
        {hasFactor && <Button onClick={() => setReplacing(true)}>Create new codes</Button>}
      </header>
      <p>
        {hasFactor
          ? `You have ${counted(factors.recoveryCodes, 'unused recovery code')}. Each replaces a lost second factor once.`
          : 'You get ten recovery codes with your first passkey or authenticator app.'}
      </p>
      {isReplacing && (
        <Confirm
          title="Create new recovery codes"
          action="Create new codes"
          onConfirm={async () => {
            const { recoveryCodes } = await change<RecoveryCodes>('/account/recovery-codes')
            setReplacing(false)
            setCodes(recoveryCodes)
          }}
          onClose={() => setReplacing(false)}
        >
          <p>All previous codes stop working.</p>
        </Confirm>
      )}
      {codes && (
        <ShowCodes
          codes={codes}
          onClose={() => {
            setCodes(null)
            refreshFactors()
          }}
        />
      )}
    </section>
  )
}

/** After adding a second factor: shows its recovery codes, if it came with new ones. */
export function useNewCodes(): { take(added: AddedFactor): void; dialog: ComponentChildren } {
  const [codes, setCodes] = useState<string[] | null>(null)
  const close = () => {
    setCodes(null)
    refreshFactors()
  }
  return {
    take({ recoveryCodes }) {
      if (recoveryCodes) setCodes(recoveryCodes)
      else refreshFactors()
    },
    dialog: codes && <ShowCodes codes={codes} onClose={close} />,
  }
}

function ShowCodes({ codes, onClose }: { codes: readonly string[]; onClose(): void }) {
  return (
    <Dialog title="Your recovery codes" onClose={onClose} isFirm>
      <div class="prose">
        <p>
          Store these codes where you can reach them without your device. Each replaces a lost passkey or app
          once. <strong>They are shown only once.</strong>
        </p>
      </div>
      <p class="label">Recovery codes</p>
      <CopyField label="Recovery codes" text={codes.join('\n')} rows={codes.length} hasFocus />
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          I have stored the codes
        </Button>
      </footer>
    </Dialog>
  )
}
