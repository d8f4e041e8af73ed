import { useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Loaded } from '../components/states.tsx'
import { Table } from '../components/table.tsx'
import { showFailure, showToast } from '../components/toasts.tsx'
import { Ago } from '../components/when.tsx'
import { refresh, useResource } from '../resource.ts'
import type { SignIn, SignInList } from '../types.ts'

const path = '/account/sign-ins'

/** Where the member is signed in. */
export function SessionsCard() {
  const list = useResource<SignInList>(path)
  const [isEnding, setEnding] = useState(false)
  const hasOthers = list.data?.signIns.some(({ isCurrent }) => !isCurrent) === true
  function end({ id }: SignIn): void {
    change(`${path}/${encode(id)}/end`)
      .then(() => refresh(path))
      .then(() => showToast('Session ended'), showFailure)
  }
  return (
    <section class="card" aria-labelledby="sessions">
      <header>
        <h2 id="sessions">Sessions</h2>
        {hasOthers && <Button onClick={() => setEnding(true)}>End all others</Button>}
      </header>
      <p>
        The browsers in which you are signed in. End sessions that you do not recognise. If you have a
        password, change it as well.
      </p>
      <Loaded resource={list} lines={2}>
        {({ signIns }) => (
          <Table
            caption="Sessions, last used first"
            columns={['Device', 'Address', 'Signed in with', 'Started', 'Last used']}
            hasActions
            frameClass="sessions"
          >
            {signIns.map((each) => (
              <SessionRow key={each.id} signIn={each} onEnd={() => end(each)} />
            ))}
          </Table>
        )}
      </Loaded>
      {isEnding && (
        <Confirm
          title="End all other sessions"
          action="End all others"
          onConfirm={async () => {
            await change('/account/end-other-sign-ins')
            await refresh(path)
            setEnding(false)
            showToast('All other sessions ended')
          }}
          onClose={() => setEnding(false)}
        >
          <p>You stay signed in here. Every other browser has to sign in again with its next request.</p>
        </Confirm>
      )}
    </section>
  )
}

const methods: Record<SignIn['method'], string> = {
  password: 'Password',
  passkey: 'Passkey',
  'single-sign-on': 'Single sign-on',
  invitation: 'One-time link',
}

function SessionRow({ signIn, onEnd }: { signIn: SignIn; onEnd(): void }) {
  const { device, address, method, startedAt, lastSeenAt, isCurrent } = signIn
  const name = device ?? 'Unknown device'
  return (
    <tr>
      <th scope="row">
        <span class="strong">{name}</span>
        {isCurrent && (
          <span>
            <span class="badge active">this session</span>
          </span>
        )}
      </th>
      <td data-label="Address">{address ? <code>{address}</code> : 'unknown'}</td>
      <td data-label="Signed in with">{methods[method]}</td>
      <td data-label="Started">
        <Ago at={startedAt} />
      </td>
      <td data-label="Last used">
        <Ago at={lastSeenAt} />
      </td>
      <td class="row-actions">
        {!isCurrent && (
          <Button kind="quiet risky" label={`End the session of ${name}`} onClick={onEnd}>
            End
          </Button>
        )}
      </td>
    </tr>
  )
}
