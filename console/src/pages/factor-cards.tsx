import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Page } from '../components/page.tsx'
import { Loaded } from '../components/states.tsx'
import { showFailure } from '../components/toasts.tsx'
import { useResource } from '../resource.ts'
import { completeSignOut, useSession } from '../session.tsx'
import type { SecondFactors } from '../types.ts'
import { PasskeysCard } from './passkeys-card.tsx'
import { factorsPath, RecoveryCodesCard } from './recovery-codes-card.tsx'
import { TotpCard } from './totp-card.tsx'

/** The member's own second factors. */
export function FactorCards() {
  const factors = useResource<SecondFactors>(factorsPath)
  return (
    <Loaded resource={factors} lines={10}>
      {(own) => (
        <>
          <PasskeysCard factors={own} />
          <TotpCard factors={own} />
          <RecoveryCodesCard factors={own} />
        </>
      )}
    </Loaded>
  )
}

/** Instead of every other page, for a member who lacks what the organisation requires. */
export function MissingFactorPage() {
  const { missingFactor, organisation } = useSession()
  const factors = useResource<SecondFactors>(factorsPath)
  const needsPasskey = missingFactor === 'passkey'
  const what = needsPasskey ? 'a passkey' : 'a passkey or an authenticator app'
  return (
    <Page
      title={needsPasskey ? 'Add a passkey' : 'Add a second factor'}
      intro={`${organisation.name} requires ${what} from every member. Add one to continue.`}
      actions={
        <Button icon="out" onClick={() => void change('/sign-out').then(completeSignOut).catch(showFailure)}>
          Sign out
        </Button>
      }
    >
      <Loaded resource={factors} lines={10}>
        {(own) => (
          <>
            <PasskeysCard factors={own} />
            {!needsPasskey && <TotpCard factors={own} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}
