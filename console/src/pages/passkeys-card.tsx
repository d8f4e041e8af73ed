import { useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm, NameDialog } from '../components/dialog.tsx'
import { Menu } from '../components/menu.tsx'
import { showToast } from '../components/toasts.tsx'
import { Ago } from '../components/when.tsx'
import { canUsePasskeys, hasIpAddress, makePasskey } from '../passkey.ts'
import type { AddedFactor, Passkey, PasskeyCreation, SecondFactors } from '../types.ts'
import { refreshFactors, useNewCodes } from './recovery-codes-card.tsx'

type Doing = { what: 'add' } | { what: 'rename' | 'remove'; passkey: Passkey } | null

export function PasskeysCard({ factors: { passkeys, totp, rule } }: { factors: SecondFactors }) {
  const [doing, setDoing] = useState<Doing>(null)
  const codes = useNewCodes()
  const stop = () => setDoing(null)
  const isPossible = canUsePasskeys() && !hasIpAddress()
  const endsSessions = passkeys.length === 0 && (totp === null || rule === 'passkey')
  async function add(name: string): Promise<void> {
    const options = await change<PasskeyCreation>('/account/passkeys/options')
    const response = await makePasskey(options)
    const added = await change<AddedFactor>('/account/passkeys', { name, response })
    stop()
    showToast(`Passkey “${name}” added`)
    codes.take(added)
  }
  return (
    <section class="card" aria-labelledby="passkeys">
      <header>
        <h2 id="passkeys">Passkeys</h2>
        {isPossible && (
          <Button icon="plus" onClick={() => setDoing({ what: 'add' })}>
            Add a passkey
          </Button>
        )}
      </header>
      <p>
        A passkey signs you in with your fingerprint, face or PIN, without a password. It is kept in your
        device, a security key or a password manager.
      </p>
      {!isPossible && (
        <p class="muted">
          <Obstacle />
        </p>
      )}
      {passkeys.length > 0 && (
        <ul class="credentials">
          {passkeys.map((passkey) => (
            <li key={passkey.id}>
              <span class="strong wrap">{passkey.name}</span>
              <span class="muted">
                Added <Ago at={passkey.createdAt} />
                {passkey.lastUsedAt === null ? (
                  ', not used yet'
                ) : (
                  <>
                    , last used <Ago at={passkey.lastUsedAt} />
                  </>
                )}
              </span>
              <Menu
                label={`Actions for the passkey ${passkey.name}`}
                items={[
                  { title: 'Rename', icon: 'edit', onChoose: () => setDoing({ what: 'rename', passkey }) },
                  {
                    ...{ title: 'Remove', icon: 'trash', isRisky: true },
                    onChoose: () => setDoing({ what: 'remove', passkey }),
                  },
                ]}
              />
            </li>
          ))}
        </ul>
      )}
      {doing?.what === 'add' && (
        <NameDialog
          title="Add a passkey"
          action="Continue"
          hint={`For example the device that it is in. Your browser then asks where to keep the passkey.${endsSessions ? ' All your other sessions will end.' : ''}`}
          onSave={add}
          onClose={stop}
        />
      )}
      {doing?.what === 'rename' && (
        <NameDialog
          title="Rename the passkey"
          action="Rename"
          name={doing.passkey.name}
          hint="The passkey itself does not change."
          onSave={async (name) => {
            await change(`/account/passkeys/${encode(doing.passkey.id)}/rename`, { name })
            stop()
            refreshFactors()
          }}
          onClose={stop}
        />
      )}
      {doing?.what === 'remove' && (
        <Confirm
          title={`Remove the passkey ${doing.passkey.name}`}
          action="Remove the passkey"
          kind="danger"
          onConfirm={async () => {
            await change(`/account/passkeys/${encode(doing.passkey.id)}`, {}, 'DELETE')
            stop()
            showToast(`Passkey “${doing.passkey.name}” removed`)
            refreshFactors()
          }}
          onClose={stop}
        >
          <p>
            It can no longer be used to sign in. Your device keeps its half until you delete it there. Your
            sessions stay open.
          </p>
        </Confirm>
      )}
      {codes.dialog}
    </section>
  )
}

/** Why there can be no passkey here, and where there can be one. */
function Obstacle() {
  if (!hasIpAddress()) {
    return (
      <>
        Passkeys need a secure connection: open the console with <code>https://</code>.
      </>
    )
  }
  const { hostname, port, pathname } = location
  if (!hostname.startsWith('127.')) return <>Passkeys need a host name. Open the console by its name.</>
  const address = `http://localhost:${port}${pathname}`
  return (
    <>
      Passkeys need a host name. Open the console at <a href={address}>{address}</a>.
    </>
  )
}
