import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm, Dialog } from '../components/dialog.tsx'
import { CopyField, Failure, Field } from '../components/field.tsx'
import { QrCode } from '../components/qr-code.tsx'
import { showFailure, showToast } from '../components/toasts.tsx'
import { When } from '../components/when.tsx'
import { useForm } from '../form.ts'
import type { AddedFactor, SecondFactors, TotpOffer } from '../types.ts'
import { refreshFactors, useNewCodes } from './recovery-codes-card.tsx'

export function TotpCard({ factors: { passkeys, totp } }: { factors: SecondFactors }) {
  const [offer, setOffer] = useState<TotpOffer | null>(null)
  const [isRemoving, setRemoving] = useState(false)
  const codes = useNewCodes()
  const begin = () => void change<TotpOffer>('/account/totp/offer').then(setOffer).catch(showFailure)
  return (
    <section class="card" aria-labelledby="totp">
      <header>
        <h2 id="totp">Authenticator app</h2>
        <div class="actions">
          <Button onClick={begin}>{totp ? 'Set up another app' : 'Set up an app'}</Button>
          {totp && (
            <Button kind="quiet risky" onClick={() => setRemoving(true)}>
              Remove the app
            </Button>
          )}
        </div>
      </header>
      <p>
        {totp ? (
          <>
            Set up <When at={totp.setAt} as="day" />. After your password, you are asked for a code from the
            app.
          </>
        ) : (
          'An app on your phone shows a code that you type after your password.'
        )}
      </p>
      {offer && (
        <SetUp
          offer={offer}
          endsSessions={passkeys.length === 0 && totp === null}
          onDone={(added) => {
            setOffer(null)
            showToast('Authenticator app set up')
            codes.take(added)
          }}
          onClose={() => setOffer(null)}
        />
      )}
      {isRemoving && (
        <Confirm
          title="Remove the authenticator app"
          action="Remove the app"
          kind="danger"
          onConfirm={async () => {
            await change('/account/totp', {}, 'DELETE')
            setRemoving(false)
            showToast('Authenticator app removed')
            refreshFactors()
          }}
          onClose={() => setRemoving(false)}
        >
          <p>
            Its codes are no longer accepted. Without a passkey, the password alone is then enough to sign in.
          </p>
        </Confirm>
      )}
      {codes.dialog}
    </section>
  )
}

interface SetUpProps {
  offer: TotpOffer
  /** Whether it is the first factor, which ends all other sessions. */
  endsSessions: boolean
  onDone(added: AddedFactor): void
  onClose(): void
}

function SetUp({ offer, endsSessions, onDone, onClose }: SetUpProps) {
  const [code, setCode] = useState('')
  const form = useForm('code')
  return (
    <Dialog title="Set up an authenticator app" onClose={onClose}>
      <div class="prose">
        <p>
          Scan this code with your app, or type the text below it. Then type the six digits that the app
          shows.{endsSessions && ' All your other sessions will end.'}
        </p>
      </div>
      <div class="totp-code">
        <QrCode text={offer.uri} label="QR code for your authenticator app" />
      </div>
      <CopyField label="Secret" text={offer.secret} />
      <form
        noValidate
        onSubmit={form.submit(async () => {
          onDone(await change<AddedFactor>('/account/totp', { token: offer.token, code }))
        })}
      >
        <Field
          label="Code"
          value={code}
          onInput={setCode}
          problem={form.fields.code}
          autoComplete="one-time-code"
          hasFocus
        />
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            Confirm
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
