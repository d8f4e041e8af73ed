import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { tell } from '../parts/toasts.tsx'
import { Ago, When } from '../parts/when.tsx'
import { refresh, useResource } from '../resource.ts'
import type { IssuedKey, Key, KeyList } from '../types.ts'
import { CreateKey } from './create-key.tsx'
import { ShownOnce } from './shown-once.tsx'

type Doing =
  | { what: 'create' }
  | { what: 'rotate' | 'revoke'; key: Key }
  | { what: 'show'; issued: IssuedKey; verb: string }

export function KeysPage() {
  const keys = useResource<KeyList>('/keys')
  const [doing, setDoing] = useState<Doing | null>(null)
  const stop = () => setDoing(null)
  const show = (issued: IssuedKey, verb: string) => {
    void refresh('/keys')
    setDoing({ what: 'show', issued, verb })
  }
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setDoing({ what: 'create' })}>
      Create a key
    </Button>
  )
  return (
    <Page
      title="API keys"
      intro="A key lets a server of yours call the API. One for each integration, with the narrowest scopes, is good practice."
      actions={create}
    >
      <Loaded resource={keys}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty icon="keys" title="No keys yet">
              <p>Create one to call the API from a server or a script.</p>
              {create}
            </Empty>
          ) : (
            <KeyTable keys={keys} onDo={(what, key) => setDoing({ what, key })} />
          )
        }
      </Loaded>
      {doing?.what === 'create' && (
        <CreateKey onCreated={(issued) => show(issued, 'created')} onClose={stop} />
      )}
      {doing?.what === 'show' && <ShownOnce issued={doing.issued} verb={doing.verb} onClose={stop} />}
      {doing?.what === 'rotate' && (
        <Confirm
          title={`Rotate “${doing.key.name}”`}
          action="Rotate the key"
          onConfirm={async () => show(await change<IssuedKey>(`/keys/${doing.key.id}/rotate`), 'rotated')}
          onClose={stop}
        >
          <p>
            The string that ends in <code>{doing.key.lastFour}</code> stops working immediately. Whatever
            still uses it is answered 401 until it has the new one, which you see next.
          </p>
          <p class="muted">
            Last used: <Ago at={doing.key.lastUsedAt} />. Name, scopes and expiry stay.
          </p>
        </Confirm>
      )}
      {doing?.what === 'revoke' && (
        <Confirm
          title={`Revoke “${doing.key.name}”`}
          action="Revoke for good"
          kind="danger"
          typing={{ what: 'the key’s name', text: doing.key.name, field: 'name' }}
          onConfirm={async (name) => {
            await change(`/keys/${doing.key.id}/revoke`, { name })
            tell(`Revoked “${doing.key.name}”`)
            void refresh('/keys')
            stop()
          }}
          onClose={stop}
        >
          <p>The key stops working immediately and for good. A revoked key cannot be brought back.</p>
          <p class="muted">
            Last used: <Ago at={doing.key.lastUsedAt} />.
          </p>
        </Confirm>
      )}
    </Page>
  )
}

function KeyTable({ keys, onDo }: { keys: Key[]; onDo(what: 'rotate' | 'revoke', key: Key): void }) {
  return (
    <div class="table-frame">
      <table class="table keys">
        <caption class="visually-hidden">API keys, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Scopes</th>
            <th scope="col">Created</th>
            <th scope="col">Last used</th>
            <th scope="col">Expires</th>
            <th scope="col">
              <span class="visually-hidden">What to do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id} class={key.state === 'active' ? undefined : 'over'}>
              <th scope="row">
                <span class="strong">{key.name}</span>
                <code class="muted">…{key.lastFour}</code>
              </th>
              <td data-label="State">
                <Badge state={key.state} />
              </td>
              <td data-label="Scopes">
                <ul class="chips">
                  {key.scopes.map((scope) => (
                    <li key={scope}>
                      <code>{scope}</code>
                    </li>
                  ))}
                </ul>
              </td>
              <td data-label="Created">
                <When at={key.createdAt} as="day" />
              </td>
              <td data-label="Last used">
                <Ago at={key.lastUsedAt} />
              </td>
              <td data-label="Expires">
                <When at={key.expiresAt} as="day" />
              </td>
              <td class="row-actions">
                {key.state === 'active' && (
                  <>
                    <Button kind="quiet" label={`Rotate ${key.name}`} onClick={() => onDo('rotate', key)}>
                      Rotate
                    </Button>
                    <Button
                      kind="quiet risky"
                      label={`Revoke ${key.name}`}
                      onClick={() => onDo('revoke', key)}
                    >
                      Revoke
                    </Button>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
